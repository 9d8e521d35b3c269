//! Compiles scripts, and resolves the names of their fields.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use rhai::{AST, ASTFlags, ASTNode, Engine, Expr, ImmutableString, Position, Stmt};

use super::compile::Compiler;
use super::compile_action::Write;
use super::file::{Errors, File, SourceText};
use super::names::{Wrong, is_number};
use super::problem::{RuleProblem, nearest};
use super::script::{self, FUNCTIONS, Form, Key, LIST, List, MSG, Msg, Script, Shape, Slot};
use super::script_failure::OPERATIONS;
use super::syntax::NameToken;

/// The scripts of a file, before they are compiled for the fields of a rule.
pub(super) struct Scripts {
    /// `None` when the file has no script.
    engine: Option<Arc<Engine>>,
    parsed: Vec<Parsed>,
}

struct Parsed {
    name: String,
    text: SourceText,
    line: u32,
    /// The parsed script; `None` if it is invalid.
    ast: Option<Arc<AST>>,
}

impl Scripts {
    /// Parses all scripts, and records the error of each invalid script.
    pub fn read(file: &File, errors: &mut Errors<'_>) -> Self {
        if file.scripts.is_empty() {
            return Self {
                engine: None,
                parsed: Vec::new(),
            };
        }
        let engine = script::engine(file.operations.unwrap_or(OPERATIONS));
        let scope = script::scope(Msg::empty(&Arc::default()), "", "");
        let parsed = file.scripts.iter().map(|(name, text)| {
            let ast = engine.compile_with_scope(&scope, &text.value);
            let ast = ast.map_err(|error| {
                let why = error.err_type().to_string();
                errors.add(
                    offset(text, error.position()),
                    RuleProblem::Script(why),
                    None,
                );
            });
            Parsed {
                name: name.value.clone(),
                text: text.clone(),
                line: errors.line(text.offset(0)) as u32,
                ast: ast.ok().map(Arc::new),
            }
        });
        Self {
            parsed: parsed.collect(),
            engine: Some(Arc::new(engine)),
        }
    }
}

/// Byte offset in the file of a position in a script.
fn offset(text: &SourceText, at: Position) -> usize {
    let line = at.line().unwrap_or(1).saturating_sub(1);
    let before = text.value.split_inclusive('\n').take(line);
    let start: usize = before.map(str::len).sum();
    let letters = at.position().unwrap_or(1).saturating_sub(1);
    let rest = text.value.get(start..).unwrap_or_default();
    let letters = rest.chars().take(letters);
    text.offset(start + letters.map(char::len_utf8).sum::<usize>())
}

/// A field that a script refers to, with its position in the script.
enum Named {
    Field(Key, Position, Option<Written>),
    /// A field of all entries of a group: the names of group and field.
    List((ImmutableString, Position), (ImmutableString, Position)),
    Function(String, Position),
    /// `msg` with a member that is not known when the rules are loaded.
    Other(Position),
    /// An assignment to an element of a list or of a text. Such an assignment is refused, because the size of the
    /// result would not be checked.
    Element(Position),
}

/// What an assignment writes to a field.
enum Written {
    Unit,
    Text(String),
    Other,
}

impl Compiler<'_, '_, '_> {
    /// Compiles the script of this name for the fields of a rule; `writes` is true for an action. `None` if it has
    /// errors, which are recorded.
    pub fn script(&mut self, name: &NameToken, writes: bool) -> Option<Script> {
        let scripts = self.scripts;
        let Some(parsed) = scripts.parsed.iter().find(|one| one.name == name.text) else {
            let names = scripts.parsed.iter().map(|one| one.name.as_str());
            let (problem, hint) = (
                RuleProblem::UnknownScript(name.text.clone()),
                nearest(&name.text, names),
            );
            self.add(name.at, problem, hint);
            return None;
        };
        let ast = parsed.ast.clone()?;
        let engine = scripts.engine.clone()?;
        let mut shape = Shape::default();
        let mut good = true;
        for named in named(&ast) {
            let found = match named {
                Named::Field(key, at, written) => {
                    let found = self.slot(&mut shape, key, written, writes);
                    found.map_err(|wrong| (at, wrong))
                }
                Named::List(group, field) => self.list(&mut shape, group, field),
                Named::Function(name, _) if FUNCTIONS.contains(&name.as_str()) => Ok(()),
                Named::Function(name, at) => {
                    let hint = nearest(&name, FUNCTIONS.into_iter().chain([LIST]));
                    Err((at, (RuleProblem::UnknownFunction(name), hint)))
                }
                Named::Element(at) => {
                    let why = "a script cannot assign to an element of a list or text";
                    Err((at, (RuleProblem::Script(why.into()), None)))
                }
                Named::Other(at) => {
                    let wanted = "a field after msg, such as msg.Symbol or msg[55]";
                    let found = MSG.to_string();
                    Err((at, (RuleProblem::Unexpected { found, wanted }, None)))
                }
            };
            if let Err((at, (problem, hint))) = found {
                self.errors.add(offset(&parsed.text, at), problem, hint);
                good = false;
            }
        }
        good.then(|| Script {
            engine,
            ast,
            shape: Arc::new(shape),
            line: parsed.line,
        })
    }

    /// Resolves a field, and checks that it may be written.
    fn slot(
        &mut self,
        shape: &mut Shape,
        key: Key,
        written: Option<Written>,
        writes: bool,
    ) -> Result<(), Wrong> {
        let text = match &key {
            Key::Name(name) => name.to_string(),
            Key::Tag(tag) => tag.to_string(),
        };
        let field = self.names.field(&self.here.scope, &text)?;
        let name = NameToken { text, at: 0 };
        let may = |write| self.may_write(&name, write).map(drop);
        if let Some(written) = written {
            if !writes {
                let why = "a script in a condition cannot change fields";
                let field = name.text;
                return Err((RuleProblem::NotWritable { field, why }, None));
            }
            match written {
                Written::Unit => may(Write::Remove)?,
                Written::Text(value) => {
                    may(Write::Set)?;
                    self.may_be(&field, &value)?;
                }
                Written::Other => may(Write::Set)?,
            }
        }
        let slots = &mut shape.slots;
        let known = slots.iter().position(|slot| slot.field.tag == field.tag);
        let at = known.unwrap_or_else(|| {
            slots.push(Slot {
                form: self.form(field.tag),
                partner: self.names.partner(&self.here.scope, field.tag),
                may_set: writes && may(Write::Set).is_ok(),
                may_remove: writes && may(Write::Remove).is_ok(),
                field,
            });
            slots.len() - 1
        });
        if !shape.keys.iter().any(|(known, _)| *known == key) {
            shape.keys.push((key, at));
        }
        Ok(())
    }

    fn list(
        &mut self,
        shape: &mut Shape,
        (group, group_at): (ImmutableString, Position),
        (name, name_at): (ImmutableString, Position),
    ) -> Result<(), (Position, Wrong)> {
        let found = self.names.group(&self.here.scope, &group);
        let (count, defs) = found.map_err(|wrong| (group_at, wrong))?;
        self.here.scope.groups.push(defs);
        let field = self.names.field(&self.here.scope, &name);
        let field = field.map(|field| (self.form(field.tag), field));
        self.here.scope.groups.pop();
        let (form, field) = field.map_err(|wrong| (name_at, wrong))?;
        shape.lists.push(List {
            names: (group, name),
            count,
            field,
            form,
        });
        Ok(())
    }

    fn form(&self, tag: u32) -> Form {
        match self.names.kind(&self.here.scope, tag) {
            Some(kind) if kind.is_decimal() => Form::Number,
            Some(kind) if is_number(kind) => Form::Whole,
            _ => Form::Text,
        }
    }
}

/// All fields that a script refers to, in order.
fn named(ast: &AST) -> Vec<Named> {
    let mut found = Vec::new();
    ast.walk(&mut |path: &[ASTNode<'_>]| {
        let Some((node, around)) = path.split_last() else {
            return true;
        };
        match node {
            ASTNode::Expr(Expr::FnCall(call, at) | Expr::MethodCall(call, at))
            | ASTNode::Stmt(Stmt::FnCall(call, at)) => {
                let is_name = call.name.starts_with(|first: char| first.is_alphabetic());
                if is_name && call.op_token.is_none() && call.name != LIST {
                    found.push(Named::Function(call.name.to_string(), *at));
                }
            }
            ASTNode::Stmt(Stmt::Var(variable, ..)) if variable.0.name == MSG => {
                found.push(Named::Other(variable.0.pos));
            }
            ASTNode::Stmt(Stmt::For(variable, ..)) if variable.0.name == MSG => {
                found.push(Named::Other(variable.0.pos));
            }
            ASTNode::Stmt(Stmt::Assignment(assignment)) if writes_part(&assignment.1.lhs) => {
                found.push(Named::Element(assignment.1.lhs.position()));
            }
            ASTNode::Expr(whole @ (Expr::Dot(pair, ..) | Expr::Index(pair, ..)))
                if is_msg(&pair.lhs) =>
            {
                found.push(member(whole, around.last()));
            }
            ASTNode::Expr(one) if is_msg(one) => {
                let member = around.last().is_some_and(|node| {
                    let ASTNode::Expr(Expr::Dot(pair, ..) | Expr::Index(pair, ..)) = node else {
                        return false;
                    };
                    core::ptr::eq(&pair.lhs, *one)
                });
                if !member {
                    found.push(Named::Other(one.position()));
                }
            }
            _ => {}
        }
        true
    });
    found
}

fn is_msg(expression: &Expr) -> bool {
    matches!(expression, Expr::Variable(variable, ..) if variable.1 == MSG)
}

/// Whether the target of an assignment is only a part of a variable or of a field of `msg`.
fn writes_part(target: &Expr) -> bool {
    let (pair, ends) = match target {
        Expr::Dot(pair, ..) => (pair, false),
        Expr::Index(pair, flags, _) => (pair, flags.contains(ASTFlags::BREAK)),
        _ => return false,
    };
    !is_msg(&pair.lhs) || (!ends && matches!(pair.rhs, Expr::Dot(..) | Expr::Index(..)))
}

/// The field that an expression on `msg` refers to.
fn member(whole: &Expr, around: Option<&ASTNode<'_>>) -> Named {
    let (pair, ends, indexed) = match whole {
        Expr::Dot(pair, ..) => (pair, false, false),
        Expr::Index(pair, flags, _) => (pair, flags.contains(ASTFlags::BREAK), true),
        _ => return Named::Other(whole.position()),
    };
    // In a chain such as `msg.A.b` the right side is the rest of the chain, and the left side of that rest is the
    // first member.
    let first = match &pair.rhs {
        Expr::Dot(rest, ..) | Expr::Index(rest, ..) if !ends => &rest.lhs,
        only => only,
    };
    let written = match around {
        Some(ASTNode::Stmt(Stmt::Assignment(assignment)))
            if core::ptr::eq(&assignment.1.lhs, whole) =>
        {
            Some(match &assignment.1.rhs {
                Expr::Unit(_) => Written::Unit,
                Expr::StringConstant(text, _) if !assignment.0.is_op_assignment() => {
                    Written::Text(text.to_string())
                }
                _ => Written::Other,
            })
        }
        _ => None,
    };
    match first {
        Expr::Property(property, at) if !indexed => {
            Named::Field(Key::Name(property.2.clone()), *at, written)
        }
        Expr::StringConstant(name, at) if indexed => {
            Named::Field(Key::Name(name.clone()), *at, written)
        }
        Expr::IntegerConstant(tag, at) if indexed => Named::Field(Key::Tag(*tag), *at, written),
        Expr::MethodCall(call, _) if call.name == LIST => match &call.args[..] {
            [
                Expr::StringConstant(group, one),
                Expr::StringConstant(field, other),
            ] => Named::List((group.clone(), *one), (field.clone(), *other)),
            _ => Named::Other(pair.lhs.position()),
        },
        _ => Named::Other(pair.lhs.position()),
    }
}
