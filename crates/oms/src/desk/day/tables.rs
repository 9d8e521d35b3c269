//! The tables of a trading day: their names and columns, for files of every form and for databases.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The values of a column.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DayColumnKind {
    /// Any text.
    Text,
    /// A whole number of 64 bits, such as the number of an order.
    Whole,
    /// A decimal number with any digits.
    Decimal,
    /// A time, in nanoseconds since 1970.
    Time,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DayColumn {
    /// The name, as it is in the heading of a file.
    pub name: &'static str,
    /// The values of this column.
    pub kind: DayColumnKind,
}

const fn text(name: &'static str) -> DayColumn {
    let kind = DayColumnKind::Text;
    DayColumn { name, kind }
}

const fn whole(name: &'static str) -> DayColumn {
    let kind = DayColumnKind::Whole;
    DayColumn { name, kind }
}

const fn decimal(name: &'static str) -> DayColumn {
    let kind = DayColumnKind::Decimal;
    DayColumn { name, kind }
}

const fn time(name: &'static str) -> DayColumn {
    let kind = DayColumnKind::Time;
    DayColumn { name, kind }
}

/// The columns of the table of operators' actions, whose rows are not from notes.
pub const ACTION_COLUMNS: [DayColumn; 3] = [time("time"), text("session"), text("action")];

/// A table of a trading day.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DayTable {
    /// Orders that were open or changed on the trading day, in their state at the end of the day.
    Orders,
    /// Requests that the OMS rejected, new orders included.
    Rejected,
    /// Fills, busts and corrections.
    Fills,
    /// Positions at the end of the trading day.
    Positions,
    /// Limits at the end of the trading day, and how much of each limit was used.
    Limits,
}

impl DayTable {
    /// All tables.
    pub const ALL: [Self; 5] = [
        Self::Orders,
        Self::Rejected,
        Self::Fills,
        Self::Positions,
        Self::Limits,
    ];

    /// The name of the table's file, without an extension.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Orders => "orders",
            Self::Rejected => "rejected",
            Self::Fills => "fills",
            Self::Positions => "positions",
            Self::Limits => "limits",
        }
    }

    /// The table's columns.
    #[must_use]
    pub fn columns(self) -> &'static [DayColumn] {
        match self {
            Self::Orders => {
                const {
                    &[
                        whole("order"),
                        text("session"),
                        text("ClOrdID"),
                        text("account"),
                        text("symbol"),
                        text("side"),
                        text("OrdType"),
                        text("TimeInForce"),
                        decimal("quantity"),
                        decimal("price"),
                        decimal("stop"),
                        text("state"),
                        decimal("filled"),
                        decimal("average"),
                        text("line"),
                        text("venue_order"),
                        text("pool_number"),
                        whole("parent"),
                        time("entered"),
                        time("closed"),
                        text("reason"),
                        text("fields"),
                    ]
                }
            }
            Self::Rejected => {
                const {
                    &[
                        time("time"),
                        text("session"),
                        text("request"),
                        text("ClOrdID"),
                        whole("order"),
                        text("account"),
                        text("symbol"),
                        text("side"),
                        decimal("quantity"),
                        decimal("price"),
                        text("reason"),
                    ]
                }
            }
            Self::Fills => {
                const {
                    &[
                        time("time"),
                        text("ExecID"),
                        text("kind"),
                        text("ExecRefID"),
                        whole("order"),
                        text("session"),
                        text("ClOrdID"),
                        text("account"),
                        text("symbol"),
                        text("side"),
                        decimal("quantity"),
                        decimal("price"),
                        text("line"),
                        time("venue_time"),
                        text("text"),
                    ]
                }
            }
            Self::Positions => {
                const {
                    &[
                        text("account"),
                        text("symbol"),
                        decimal("long"),
                        decimal("short"),
                        decimal("bought"),
                        decimal("sold"),
                    ]
                }
            }
            Self::Limits => {
                const {
                    &[
                        text("scope"),
                        text("control"),
                        decimal("limit"),
                        decimal("used"),
                    ]
                }
            }
        }
    }
}

/// A value in a row of a table.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum DayValue {
    /// A text or a number; empty for no value.
    Text(String),
    /// A time, in nanoseconds since 1970; `None` when the time is unknown.
    Time(Option<i64>),
}

impl DayValue {
    pub(super) fn of(value: impl ToString) -> Self {
        Self::Text(value.to_string())
    }

    pub(super) fn none() -> Self {
        Self::Text(String::new())
    }
}

/// A row: one value for each column of its table.
pub type DayRow = Vec<DayValue>;

/// A finished row, and its table.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DayTableRow {
    /// The table.
    pub table: DayTable,
    /// The number of the event that made the row; `None` for tables whose rows change with many events.
    pub event: Option<u64>,
    /// The row.
    pub row: DayRow,
}

impl DayTableRow {
    pub(super) fn of(table: DayTable) -> impl FnMut(DayRow) -> Self {
        let event = None;
        move |row| Self { table, event, row }
    }
}
