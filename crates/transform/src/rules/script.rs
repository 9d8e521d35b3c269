//! Runs a script on one message.
//!
//! The fields that a script refers to are known when rules are loaded. The values of these fields are copied to `msg`
//! before the script runs. What the script writes to `msg` is written to the message if the script succeeds.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;

use fixwire_protocol::decimal::check_float;
use fixwire_protocol::time::TimestampWriter;
use fixwire_protocol::{Precision, Tag};
use rhai::packages::{
    ArithmeticPackage, BasicIteratorPackage, BasicMathPackage, BasicStringPackage, LogicPackage,
    MoreStringPackage, Package,
};
use rhai::{AST, Array, Dynamic, Engine, EvalAltResult, INT, ImmutableString, Position, Scope};

use super::condition::{World, entries};
use super::fields::{FieldLevel, FieldRef, FieldSequence, View};
use super::script_failure::{ScriptFailure, ScriptFault};
use crate::TransformFailure;

/// Maximum length of a text in a script, a field's value included, in bytes.
pub const MAX_TEXT: usize = 4 << 10;
/// Maximum number of values in a list.
pub const MAX_VALUES: usize = 256;
/// Maximum number of variables.
const MAX_VARIABLES: usize = 32;
/// Maximum nesting depth of expressions and blocks.
const MAX_NESTING: usize = 32;

/// The name of the message in scripts.
pub(super) const MSG: &str = "msg";
const SOURCE: &str = "source";
const TIME: &str = "time";

/// The functions that scripts may call in addition to [`LIST`]. Time and memory of each call are bounded by the size
/// of its arguments.
pub(super) const FUNCTIONS: [&str; 22] = [
    "abs",
    "ceiling",
    "contains",
    "ends_with",
    "floor",
    "index_of",
    "is_empty",
    "len",
    "max",
    "min",
    "parse_decimal",
    "parse_int",
    "round",
    "sign",
    "starts_with",
    "sub_string",
    "to_decimal",
    "to_int",
    "to_lower",
    "to_string",
    "to_upper",
    "trim",
];
/// `msg.list("NoAllocs", "AllocShares")`
pub(super) const LIST: &str = "list";

/// The script type of a field's value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    Text,
    Whole,
    Number,
}

/// How a script refers to a field.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Key {
    /// `msg.OrderQty`
    Name(ImmutableString),
    /// `msg[38]`
    Tag(INT),
}

/// A field that a script names.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub field: FieldRef,
    pub form: Form,
    /// The length field of a data field, or the data field of a length field.
    pub partner: Option<FieldRef>,
    pub may_set: bool,
    pub may_remove: bool,
}

/// A field in all entries of a group.
#[derive(Clone, Debug)]
pub(super) struct List {
    /// The names that the script uses for group and field.
    pub names: (ImmutableString, ImmutableString),
    pub count: FieldRef,
    pub field: FieldRef,
    pub form: Form,
}

/// All fields that a script refers to.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    /// Each key with the index of its slot.
    pub keys: Vec<(Key, usize)>,
    pub slots: Vec<Slot>,
    pub lists: Vec<List>,
}

/// A script, with all names resolved.
#[derive(Clone, Debug)]
pub(super) struct Script {
    pub engine: Arc<Engine>,
    pub ast: Arc<AST>,
    pub shape: Arc<Shape>,
    /// The line of the file where the script's text begins.
    pub line: u32,
}

type Value = Result<Dynamic, ScriptFault>;
type Run<T> = Result<T, Box<EvalAltResult>>;

/// `msg`: the fields of the message that the script refers to.
#[derive(Clone)]
pub(super) struct Msg {
    shape: Arc<Shape>,
    /// One value for each slot; `()` for an absent field.
    values: Vec<Value>,
    lists: Vec<Value>,
    /// The slots that the script has written, in the order of their first write.
    written: Vec<usize>,
}

/// A Rhai engine that has only the features that scripts may use.
pub(super) fn engine(operations: u64) -> Engine {
    let mut engine = Engine::new_raw();
    ArithmeticPackage::new().register_into_engine(&mut engine);
    LogicPackage::new().register_into_engine(&mut engine);
    BasicMathPackage::new().register_into_engine(&mut engine);
    BasicStringPackage::new().register_into_engine(&mut engine);
    MoreStringPackage::new().register_into_engine(&mut engine);
    BasicIteratorPackage::new().register_into_engine(&mut engine);
    engine
        .set_max_operations(operations)
        .set_max_expr_depths(MAX_NESTING)
        .set_max_string_size(MAX_TEXT)
        .set_max_array_size(MAX_VALUES)
        .set_max_variables(MAX_VARIABLES)
        .set_strict_variables(true)
        .set_fail_on_invalid_map_property(true)
        // The power operators are off, because one operation could take unlimited time.
        .disable_symbol("**")
        .disable_symbol("**=")
        // Maps are off, because their size is not checked when a script adds a value.
        .disable_symbol("#{");
    engine
        .register_type_with_name::<Msg>("message")
        .register_indexer_get(|msg: &mut Msg, name: ImmutableString| msg.get(&Key::Name(name)))
        .register_indexer_get(|msg: &mut Msg, tag: INT| msg.get(&Key::Tag(tag)))
        .register_indexer_set(|msg: &mut Msg, name: ImmutableString, value: Dynamic| {
            msg.set(&Key::Name(name), value)
        })
        .register_indexer_set(|msg: &mut Msg, tag: INT, value: Dynamic| {
            msg.set(&Key::Tag(tag), value)
        })
        .register_fn(LIST, Msg::list);
    // Scripts can only read lists. So no list grows, and no list contains another.
    engine
        .register_fn("len", |list: &mut Array| list.len() as INT)
        .register_fn("is_empty", |list: &mut Array| list.is_empty())
        .register_fn("contains", |list: &mut Array, value: Dynamic| {
            list.iter().any(|one| same(one, &value))
        });
    engine
}

/// The scripts that run longest for their number of operations, as far as known: each calls functions on texts of
/// maximum length.
pub const LONG_RUNS: [&str; 4] = [
    "loop { text.index_of(\"bb\"); }",
    "loop { text.to_upper(); }",
    "loop { text.contains(other); }",
    "loop { text == other; }",
];

/// Runs one of [`LONG_RUNS`] to its end, to measure how long a script may block a gateway. Returns whether the script
/// used all its operations.
#[must_use]
pub fn run_long(run: &str, operations: u64) -> bool {
    let (mut scope, engine) = (Scope::new(), engine(operations));
    let text = "a".repeat(MAX_TEXT);
    let mut other = text.clone();
    other.replace_range(MAX_TEXT - 1.., "b");
    scope.push("text", ImmutableString::from(text));
    scope.push("other", ImmutableString::from(other));
    let ended = engine.run_with_scope(&mut scope, run);
    ended.is_err_and(|error| fault(&error) == ScriptFault::TooLong)
}

/// The variables of a script at its start.
pub(super) fn scope(msg: Msg, source: &str, time: &str) -> Scope<'static> {
    let mut scope = Scope::new();
    scope.push(MSG, msg);
    scope.push_constant(SOURCE, ImmutableString::from(source));
    scope.push_constant(TIME, ImmutableString::from(time));
    scope
}

impl Script {
    /// Whether a condition holds.
    pub fn holds<F: FieldSequence>(
        &self,
        view: &View<'_, F>,
        level: Option<&FieldLevel<'_>>,
        world: &World<'_>,
    ) -> Result<bool, TransformFailure> {
        let (answer, _) = self.run(view, level, world)?;
        answer
            .as_bool()
            .map_err(|_| self.failure(Position::NONE, ScriptFault::NoAnswer))
    }

    /// Runs the script. Returns the value of the last expression, and `msg` after the run.
    pub fn run<F: FieldSequence>(
        &self,
        view: &View<'_, F>,
        level: Option<&FieldLevel<'_>>,
        world: &World<'_>,
    ) -> Result<(Dynamic, Msg), TransformFailure> {
        let msg = Msg::taken(&self.shape, view, level);
        let mut stamp = TimestampWriter::new();
        let time = stamp.format(world.facts.now.wall, Precision::Millis);
        let time = core::str::from_utf8(time).unwrap_or_default();
        let mut scope = scope(msg, world.name, time);
        let answer = self
            .engine
            .eval_ast_with_scope::<Dynamic>(&mut scope, &self.ast)
            .map_err(|error| self.failure(error.position(), fault(&error)))?;
        let msg = scope.remove(MSG);
        let msg = msg.ok_or_else(|| self.failure(Position::NONE, ScriptFault::Other))?;
        Ok((answer, msg))
    }

    fn failure(&self, at: Position, fault: ScriptFault) -> TransformFailure {
        let behind = at.line().map_or(0, |line| line.saturating_sub(1));
        let line = self.line.saturating_add(behind as u32);
        TransformFailure::Script(ScriptFailure { line, fault })
    }
}

fn fault(error: &EvalAltResult) -> ScriptFault {
    match error {
        EvalAltResult::ErrorTooManyOperations(_) => ScriptFault::TooLong,
        EvalAltResult::ErrorDataTooLarge(..)
        | EvalAltResult::ErrorTooManyVariables(_)
        | EvalAltResult::ErrorStackOverflow(_) => ScriptFault::TooLarge,
        EvalAltResult::ErrorArithmetic(..) => ScriptFault::Number,
        EvalAltResult::ErrorArrayBounds(..)
        | EvalAltResult::ErrorStringBounds(..)
        | EvalAltResult::ErrorBitFieldBounds(..) => ScriptFault::Bounds,
        EvalAltResult::ErrorFunctionNotFound(..)
        | EvalAltResult::ErrorMismatchDataType(..)
        | EvalAltResult::ErrorMismatchOutputType(..)
        | EvalAltResult::ErrorIndexingType(..)
        | EvalAltResult::ErrorDotExpr(..)
        | EvalAltResult::ErrorFor(_) => ScriptFault::Kinds,
        EvalAltResult::ErrorRuntime(value, _) => value
            .clone()
            .try_cast::<ScriptFault>()
            .unwrap_or(ScriptFault::Thrown),
        EvalAltResult::ErrorInFunctionCall(_, _, inner, _) => fault(inner),
        _ => ScriptFault::Other,
    }
}

fn failed(fault: ScriptFault) -> Box<EvalAltResult> {
    EvalAltResult::ErrorRuntime(Dynamic::from(fault), Position::NONE).into()
}

impl Msg {
    /// `msg` without any values.
    pub fn empty(shape: &Arc<Shape>) -> Self {
        Self {
            shape: shape.clone(),
            values: Vec::new(),
            lists: Vec::new(),
            written: Vec::new(),
        }
    }

    fn taken<F: FieldSequence>(
        shape: &Arc<Shape>,
        view: &View<'_, F>,
        level: Option<&FieldLevel<'_>>,
    ) -> Self {
        let slots = shape.slots.iter();
        let lists = shape.lists.iter().map(|list| {
            let mut values = Vec::new();
            let mut fault = None;
            entries(view, level, &list.count, |entry| {
                match read(
                    view.value(Some(entry), &list.field),
                    list.field.tag,
                    list.form,
                ) {
                    Ok(_) if values.len() == MAX_VALUES => fault = Some(ScriptFault::TooLarge),
                    Ok(value) => values.push(value),
                    Err(why) => fault = Some(why),
                }
                fault.is_some()
            });
            match fault {
                Some(fault) => Err(fault),
                None => Ok(Dynamic::from_array(values)),
            }
        });
        Self {
            values: slots
                .map(|slot| read(view.value(level, &slot.field), slot.field.tag, slot.form))
                .collect(),
            lists: lists.collect(),
            ..Self::empty(shape)
        }
    }

    fn slot(&self, key: &Key) -> Run<usize> {
        let found = self.shape.keys.iter().find(|(known, _)| known == key);
        // All names in the script were resolved when it was loaded, so every key has a slot.
        found
            .map(|(_, slot)| *slot)
            .ok_or_else(|| failed(ScriptFault::Other))
    }

    fn get(&self, key: &Key) -> Run<Dynamic> {
        self.values[self.slot(key)?].clone().map_err(failed)
    }

    fn set(&mut self, key: &Key, value: Dynamic) -> Run<()> {
        let at = self.slot(key)?;
        let slot = &self.shape.slots[at];
        let text = written(&value).ok_or_else(|| failed(ScriptFault::Kinds))?;
        // After a method call on a value, Rhai assigns the unchanged value back. That is not a change.
        if let Ok(before) = &self.values[at]
            && written(before).as_ref() == Some(&text)
        {
            return Ok(());
        }
        let may = match value.is_unit() {
            true => slot.may_remove,
            false => slot.may_set,
        };
        if !may {
            return Err(failed(ScriptFault::NotWritable(slot.field.tag)));
        }
        self.values[at] = Ok(value);
        if !self.written.contains(&at) {
            self.written.push(at);
        }
        Ok(())
    }

    fn list(&mut self, group: ImmutableString, field: ImmutableString) -> Run<Dynamic> {
        let names = (group, field);
        let found = self.shape.lists.iter().position(|list| list.names == names);
        match found.and_then(|at| self.lists.get(at)) {
            Some(list) => list.clone().map_err(failed),
            None => Err(failed(ScriptFault::Kinds)),
        }
    }

    /// The written fields in order, each with its new value; `None` for a removed field.
    pub fn written(&self) -> impl Iterator<Item = (&Slot, Option<ImmutableString>)> {
        self.written.iter().map(|at| {
            let value = self.values[*at].as_ref().ok();
            let value = value.filter(|value| !value.is_unit()).and_then(written);
            (&self.shape.slots[*at], value)
        })
    }
}

/// A field's bytes as a script value. A value of a numeric field that is not a number becomes a text.
fn read(bytes: Option<&[u8]>, tag: Tag, form: Form) -> Value {
    let Some(bytes) = bytes else {
        return Ok(Dynamic::UNIT);
    };
    if bytes.len() > MAX_TEXT {
        return Err(ScriptFault::TooLarge);
    }
    let text = core::str::from_utf8(bytes).map_err(|_| ScriptFault::NotText)?;
    match form {
        Form::Text => Ok(text.into()),
        Form::Whole | Form::Number if check_float(bytes).is_err() => Ok(text.into()),
        Form::Whole => match text.parse::<INT>() {
            Ok(whole) => Ok(Dynamic::from_int(whole)),
            Err(_) => decimal(text, tag),
        },
        Form::Number => decimal(text, tag),
    }
}

/// A FIX float as a decimal of the script.
fn decimal(text: &str, tag: Tag) -> Value {
    // Zeros that do not change the number may exceed the number of digits.
    let short = || {
        let rest = text.strip_prefix('-').unwrap_or(text);
        let sign = &text[..text.len() - rest.len()];
        let digits = rest.trim_start_matches('0');
        let digits = match digits.contains('.') {
            true => digits.trim_end_matches('0').trim_end_matches('.'),
            false => digits,
        };
        format!("{sign}0{digits}")
    };
    rust_decimal::Decimal::from_str_exact(text)
        .or_else(|_| rust_decimal::Decimal::from_str_exact(&short()))
        .map(Dynamic::from_decimal)
        .map_err(|_| ScriptFault::TooManyDigits(tag))
}

/// Whether two values of a list are equal.
fn same(one: &Dynamic, other: &Dynamic) -> bool {
    let number = |value: &Dynamic| match value.as_int() {
        Ok(whole) => Some(whole.into()),
        Err(_) => value.as_decimal().ok(),
    };
    let texts = (
        one.as_immutable_string_ref(),
        other.as_immutable_string_ref(),
    );
    match texts {
        (Ok(one), Ok(other)) => *one == *other,
        _ => number(one).is_some_and(|one| number(other) == Some(one)),
    }
}

/// A script value as the bytes of a field; empty for `()`. `None` if a field cannot have this value.
fn written(value: &Dynamic) -> Option<ImmutableString> {
    if value.is_unit() {
        Some(ImmutableString::new())
    } else if let Ok(answer) = value.as_bool() {
        Some(if answer { "Y" } else { "N" }.into())
    } else if value.is_string() || value.is_int() || value.is_decimal() || value.is_char() {
        Some(value.to_string().into())
    } else {
        None
    }
}
