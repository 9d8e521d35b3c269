//! IP networks and lists of them. A network is all addresses with the same prefix.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ipnet::IpNet;

/// All addresses with the same prefix: `192.0.2.7`, `192.0.2.0/24`, `2001:db8::/32`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Network(IpNet);

impl Network {
    /// Whether the network contains an address. An IPv4 address that was received on an IPv6 socket counts as IPv4.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

/// The text is neither an address nor a network.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NetworkError;

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an IP address, nor one with a prefix length such as 192.0.2.0/24")
    }
}

impl std::error::Error for NetworkError {}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.trim().parse().map_err(|_| NetworkError)?;
        let address = address.to_canonical();
        let network = match bits {
            None => address.into(),
            Some(bits) => {
                let bits = bits.trim().parse().map_err(|_| NetworkError)?;
                IpNet::new(address, bits).map_err(|_| NetworkError)?
            }
        };
        Ok(Self(network))
    }
}

/// Whether a list allows an address. An empty list allows all addresses.
pub fn allows(list: &[Network], address: IpAddr) -> bool {
    list.is_empty() || list.iter().any(|network| network.contains(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn networks_are_read_and_hold_their_addresses() {
        for (network, inside, outside) in [
            ("192.0.2.7", "192.0.2.7", "192.0.2.8"),
            ("192.0.2.0/24", "192.0.2.255", "192.0.3.0"),
            ("192.0.2.99/24", "192.0.2.0", "192.0.1.255"),
            ("2001:db8::/32", "2001:db8:ffff::1", "2001:db9::1"),
            ("::ffff:10.0.0.1", "10.0.0.1", "10.0.0.2"),
        ] {
            let network: Network = network.parse().unwrap();
            assert!(network.contains(ip(inside)), "{network:?} {inside}");
            assert!(!network.contains(ip(outside)), "{network:?} {outside}");
        }
        let all: Network = "0.0.0.0/0".parse().unwrap();
        assert!(all.contains(ip("255.1.2.3")) && !all.contains(ip("::1")));
        assert!(
            all.contains(ip("::ffff:1.2.3.4")),
            "IPv4 through an IPv6 socket"
        );
        for wrong in [
            "",
            "host",
            "1.2.3",
            "1.2.3.4/33",
            "::1/129",
            "1.2.3.4/",
            "1.2.3.4/x",
        ] {
            assert_eq!(wrong.parse::<Network>(), Err(NetworkError), "{wrong}");
        }
    }
}
