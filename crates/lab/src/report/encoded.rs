//! A histogram in JSON: HdrHistogram's V2 encoding, deflated, in base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer as Reader, Serializer as _, V2DeflateSerializer};
use serde::{Deserialize, Deserializer, Serializer, de, ser};

pub fn serialize<S: Serializer>(histogram: &Histogram<u64>, to: S) -> Result<S::Ok, S::Error> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(histogram, &mut bytes)
        .map_err(ser::Error::custom)?;
    to.serialize_str(&STANDARD.encode(bytes))
}

pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Histogram<u64>, D::Error> {
    let text = String::deserialize(from)?;
    let bytes = STANDARD
        .decode(&text)
        .map_err(|error| de::Error::custom(format!("histogram is not base64: {error}")))?;
    Reader::new()
        .deserialize(&mut &bytes[..])
        .map_err(|error| de::Error::custom(format!("histogram is damaged: {error}")))
}
