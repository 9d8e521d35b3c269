//! Compares the positions or fills of a file with the positions or fills of the OMS.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::Decimal;

use super::clearing_file::{ClearingFill, ClearingRow};
use super::signed;
use crate::values::show::figure;

/// Number of decimals with which quantities are compared.
const DECIMALS: u8 = 18;

/// The quantities of an account in a symbol in the OMS, as decimals.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct OwnQuantities {
    /// Account(1).
    pub account: String,
    /// Symbol(55).
    pub symbol: String,
    /// Long quantity, or the quantity bought today.
    pub long: String,
    /// Short quantity, or the quantity sold today.
    pub short: String,
    /// Changes of both quantities by fills after the time of the file; `None` if the file has no time of its own.
    pub since: Option<[String; 2]>,
    /// Why it is unknown whether both quantities include all fills up to the time of the file; empty if it is known.
    pub doubts: String,
}

/// The quantities that are compared.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Compared {
    /// Long and short positions.
    Positions,
    /// Quantities bought and sold.
    Fills,
}

/// The differences of a comparison.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Differences {
    /// Number of accounts and symbols that were compared.
    pub compared: usize,
    /// Number of accounts and symbols that differ, or whose fills are in doubt.
    pub count: usize,
    /// A table with a row for each difference; tabs separate its columns.
    pub table: String,
}

/// A quantity in 10^-18.
fn fine(text: &str) -> Option<i128> {
    let number: Decimal = signed(text)?.normalized();
    let more = DECIMALS.checked_sub(number.scale)?;
    i128::from(number.mantissa).checked_mul(10_i128.pow(more.into()))
}

/// Long and short quantity on each side. `since` is the part of the OMS's quantities from fills after the time of the
/// file.
#[derive(Clone, Debug, Default)]
struct Pair {
    ours: [i128; 2],
    theirs: [i128; 2],
    since: Option<[i128; 2]>,
    doubts: String,
}

impl Pair {
    fn difference(&self) -> [i128; 2] {
        let since = self.since.unwrap_or_default();
        [0, 1].map(|at| self.ours[at] - since[at] - self.theirs[at])
    }
}

/// Quantities by account and symbol.
#[derive(Default)]
struct Pairs(BTreeMap<(String, String), Pair>);

impl Pairs {
    fn of(&mut self, account: &str, symbol: &str) -> &mut Pair {
        self.0.entry((account.into(), symbol.into())).or_default()
    }

    fn add_ours(&mut self, ours: &[OwnQuantities], listed: Option<&BTreeSet<&str>>) -> Option<()> {
        let is_listed = |own: &&OwnQuantities| match listed {
            Some(accounts) => accounts.contains(&*own.account),
            None => true,
        };
        for own in ours.iter().filter(is_listed) {
            let since = match &own.since {
                Some([long, short]) => Some([fine(long)?, fine(short)?]),
                None => None,
            };
            let quantities = [fine(&own.long)?, fine(&own.short)?];
            let pair = self.of(&own.account, &own.symbol);
            (pair.ours, pair.since) = (quantities, since);
            pair.doubts.clone_from(&own.doubts);
        }
        Some(())
    }

    fn differences(self, compared: Compared) -> Differences {
        let [first, second] = match compared {
            Compared::Positions => ["long", "short"],
            Compared::Fills => ["bought", "sold"],
        };
        let mut table = String::from("account\tsymbol");
        for whose in ["ours", "theirs", "difference"] {
            table += &format!("\t{whose} {first}\t{whose} {second}");
        }
        let has_since = self.0.values().any(|pair| pair.since.is_some());
        if has_since {
            table += &format!("\t{first} since\t{second} since");
        }
        let has_doubts = self.0.values().any(|pair| !pair.doubts.is_empty());
        if has_doubts {
            table += "\tin doubt";
        }
        let mut count = 0;
        for ((account, symbol), pair) in &self.0 {
            let difference = pair.difference();
            if difference == [0, 0] && pair.doubts.is_empty() {
                continue;
            }
            count += 1;
            table += &format!("\n{account}\t{symbol}");
            let since = pair.since.unwrap_or_default();
            let since = has_since.then_some(since);
            let all = [pair.ours, pair.theirs, difference]
                .into_iter()
                .chain(since);
            for quantity in all.flatten() {
                table += &format!("\t{}", figure(quantity, DECIMALS));
            }
            if has_doubts {
                table += &format!("\t{}", pair.doubts);
            }
        }
        Differences {
            compared: self.0.len(),
            count,
            table,
        }
    }
}

/// Compares positions. A position that the file does not list must be 0 in the OMS. With `is_listed`, this is checked
/// only for accounts that the file lists.
///
/// # Errors
///
/// A quantity that is not a number, or that has more decimals than can be compared.
pub fn compare_positions(
    theirs: &[ClearingRow],
    ours: &[OwnQuantities],
    is_listed: bool,
) -> Result<Differences, String> {
    let accounts: BTreeSet<&str> = theirs.iter().map(|row| &*row.account).collect();
    let mut pairs = Pairs::default();
    pairs
        .add_ours(ours, is_listed.then_some(&accounts))
        .ok_or_else(unreadable)?;
    for row in theirs {
        let both = fine(&row.long).zip(fine(&row.short));
        let (long, short) = both.ok_or_else(|| not_comparable(row.line))?;
        pairs.of(&row.account, &row.symbol).theirs = [long, short];
    }
    Ok(pairs.differences(Compared::Positions))
}

/// Compares the sums of fills with the quantities bought and sold today.
///
/// # Errors
///
/// As [`compare_positions`].
pub fn compare_fills(
    theirs: &[ClearingFill],
    ours: &[OwnQuantities],
    is_listed: bool,
) -> Result<Differences, String> {
    let accounts: BTreeSet<&str> = theirs.iter().map(|fill| &*fill.account).collect();
    let mut pairs = Pairs::default();
    pairs
        .add_ours(ours, is_listed.then_some(&accounts))
        .ok_or_else(unreadable)?;
    for fill in theirs {
        let quantity = fine(&fill.quantity).ok_or_else(|| not_comparable(fill.line))?;
        let pair = pairs.of(&fill.account, &fill.symbol);
        let sum = &mut pair.theirs[usize::from(!fill.buys)];
        *sum = sum
            .checked_add(quantity)
            .ok_or_else(|| not_comparable(fill.line))?;
    }
    Ok(pairs.differences(Compared::Fills))
}

fn unreadable() -> String {
    "the OMS answered with a quantity that is no number".to_string()
}

fn not_comparable(line: usize) -> String {
    format!("line {line}: a quantity has more than {DECIMALS} decimals, or is too large")
}

/// The rows of the OMS's answer to the query `positions`. To compare fills, the quantities are those bought and sold
/// today.
#[must_use]
pub fn own_quantities(answer: &str, compared: Compared) -> Vec<OwnQuantities> {
    let mut lines = answer.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let [first, second] = match compared {
        Compared::Positions => ["long", "short"],
        Compared::Fills => ["bought", "sold"],
    };
    let rows = lines.map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        let cell = |name: &str| {
            let at = names.iter().position(|known| *known == name);
            let cell = at.and_then(|at| cells.get(at));
            cell.map(ToString::to_string).unwrap_or_default()
        };
        OwnQuantities {
            account: cell("account"),
            symbol: cell("symbol"),
            long: cell(first),
            short: cell(second),
            since: None,
            doubts: String::new(),
        }
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::super::clearing_file::{fill_rows, position_rows};
    use super::*;

    const ANSWER: &str = "account\tsymbol\tlong\tshort\tbought\tsold\n\
                          A1\tXYZ\t10.5\t0\t3\t0\nA1\tABC\t0\t4\t0\t4\nA2\tXYZ\t7\t0\t0\t0";

    #[test]
    fn positions_differ_by_account_and_symbol() {
        let ours = own_quantities(ANSWER, Compared::Positions);
        let file = "account,symbol,long,short\nA1,XYZ,10.50,\nA1,ABC,,5\nA1,NEW,1,\n";
        let theirs = position_rows("p.csv", file).rows;
        let found = compare_positions(&theirs, &ours, true).unwrap();
        assert_eq!((found.compared, found.count), (3, 2));
        assert_eq!(
            found.table,
            "account\tsymbol\tours long\tours short\ttheirs long\ttheirs short\tdifference long\tdifference short\n\
             A1\tABC\t0\t4\t0\t5\t0\t-1\nA1\tNEW\t0\t0\t1\t0\t-1\t0"
        );
        let all = compare_positions(&theirs, &ours, false).unwrap();
        assert_eq!(all.count, 3, "the file does not have A2");
    }

    #[test]
    fn fills_since_the_moment_are_no_difference() {
        let mut ours = own_quantities(ANSWER, Compared::Positions);
        ours.truncate(1);
        ours[0].since = Some(["2.5".into(), "-1".into()]);
        let theirs = position_rows("p.csv", "account,symbol,long,short\nA1,XYZ,8,1\n");
        let found = compare_positions(&theirs.rows, &ours, false).unwrap();
        assert_eq!(found.count, 0);
        assert!(found.table.ends_with("\tlong since\tshort since"));
        // Whether a fill was made before the moment is unknown.
        ours[0].doubts = "a fill of order 7 was entered by hand, or settled".into();
        let found = compare_positions(&theirs.rows, &ours, false).unwrap();
        assert_eq!(found.count, 1);
        assert!(found.table.contains("\tin doubt\n"), "{}", found.table);
        assert!(
            found
                .table
                .ends_with("\t2.5\t-1\ta fill of order 7 was entered by hand, or settled"),
            "{}",
            found.table
        );
    }

    #[test]
    fn fills_are_compared_by_their_sums() {
        let ours = own_quantities(ANSWER, Compared::Fills);
        let file = "account,symbol,side,quantity\nA1,XYZ,buy,1\nA1,XYZ,1,2\nA1,ABC,5,3\n";
        let theirs = fill_rows("f.csv", file).unwrap();
        let found = compare_fills(&theirs, &ours, false).unwrap();
        assert_eq!(found.count, 1);
        assert!(
            found.table.ends_with("A1\tABC\t0\t4\t0\t3\t0\t1"),
            "{}",
            found.table
        );
    }
}
