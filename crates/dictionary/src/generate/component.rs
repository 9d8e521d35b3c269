//! Writes views of components, for functions that accept any message with the component.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use fixwire_protocol::dictionary::{ComponentDef, Dictionary, MessageDef};

use super::{Module, UNUSED, lower};

/// The components of a message that get a view. The dictionary knows the components, and no field has the same name.
pub(super) fn of<'a>(
    dictionary: &'a Dictionary,
    message: &'a MessageDef,
) -> impl Iterator<Item = &'a ComponentDef> {
    let known = message.components().iter();
    known.filter_map(|name| {
        let component = dictionary.component(name)?;
        let is_name = name.starts_with(|first: char| first.is_ascii_uppercase())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let method = lower(name);
        let taken = message.members().iter().any(|member| {
            let field = dictionary.field(member.tag);
            field.is_some_and(|field| lower(&field.name) == method)
        });
        (is_name && !taken).then_some(component)
    })
}

/// The module with all components that these messages have.
pub(super) fn module(
    path: &str,
    dictionary: &Dictionary,
    messages: &[&MessageDef],
    text: &mut String,
) {
    let components: BTreeMap<&str, &ComponentDef> = messages
        .iter()
        .flat_map(|message| of(dictionary, message))
        .map(|component| (component.name.as_str(), component))
        .collect();
    if components.is_empty() {
        return;
    }
    let _ = write!(
        text,
        "/// Parts that several messages have: each message above gives a view of its own.\n\
         pub mod components {{\n\
         {UNUSED}\nuse {path}::typed::{{Fields, Shape, read}};\n\
         {UNUSED}\nuse {path}::{{Decimal, Message, Refusal, Timestamp}};\n",
    );
    let mut module = Module {
        dictionary,
        text: &mut *text,
        groups: BTreeMap::new(),
        reads_only: true,
    };
    for component in components.values() {
        module.component(component);
    }
    text.push_str("}\n");
}

impl<'a> Module<'a> {
    fn component(&mut self, component: &'a ComponentDef) {
        let name = &component.name;
        let fields = self.fields(&component.members);
        let names: Vec<String> = fields
            .iter()
            .map(|field| self.group(field.group, name))
            .collect();
        let _ = writeln!(
            self.text,
            "/// The {name} of a message.\n#[derive(Clone, Copy, Debug)]\n\
             pub struct {name}<'a>(pub(super) Fields<'a>);\n\
             impl<'a> {name}<'a> {{\n\
             /// The part of any message, whether it has fields of it or not.\n\
             pub fn of_message(message: &Message<'a>) -> Self {{ Self(Fields::of(message)) }}"
        );
        self.getters(&fields, &names);
        self.line("}");
    }
}
