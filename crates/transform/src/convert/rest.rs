//! Handles the fields that the target version lacks after all statements have run: they are dropped, moved to
//! user-defined tags, or make the conversion fail.

use fixwire_protocol::Tag;
use fixwire_protocol::dictionary::{Dictionary, FIRST_USER_DEFINED, FieldDef};

use super::policy::Policy;
use super::run::ConversionRun;
use super::tree::{ROOT, Word};
use crate::TransformFailure;

/// The last pass over a message.
impl ConversionRun<'_> {
    /// Moves every field to its place in the target or applies its policy, then checks that the target's required
    /// fields are present.
    pub fn rest(&mut self) -> Result<(), TransformFailure> {
        self.rest_of(ROOT)
    }

    /// Handles one scope. Recursion is as deep as a dictionary nests groups, 8 at most.
    fn rest_of(&mut self, scope: usize) -> Result<(), TransformFailure> {
        let levels = &self.link.levels;
        let level = &levels[self.tree.level(scope)];
        let mut required = 0;
        let mut next = self.tree.first(scope);
        while let Some(node) = next {
            let tag = self.tree.tag(node);
            let place = level.at(self.tree.place(node));
            if tag == 0 {
                // A statement has removed the field.
            } else if !level.is_home_of(tag, place) {
                self.homeless(scope, node)?;
            } else {
                let is_group = place.is_some_and(|place| place.is_group);
                // A count field without entries and with a value other than 0 did not count a group in the source.
                let has_entries = self.tree.first_entry(node).is_some();
                match (is_group, has_entries) {
                    (true, true) => self.entries(node)?,
                    (true, false) if self.tree.value(node).iter().any(|byte| *byte != b'0') => {
                        self.homeless(scope, node)?;
                    }
                    (true, false) => {}
                    (false, true) => self.homeless(scope, node)?,
                    (false, false) => self.value(scope, node)?,
                }
            }
            if let Some(place) = place
                && self.tree.tag(node) == place.tag
            {
                required |= place.required;
            }
            next = self.tree.next(node);
        }
        if Some(required) == level.all_required() {
            return Ok(());
        }
        for &tag in &level.required {
            if self.tree.find(scope, tag).is_none() {
                return Err(TransformFailure::Missing(tag));
            }
        }
        Ok(())
    }

    fn entries(&mut self, node: usize) -> Result<(), TransformFailure> {
        let mut next = self.tree.first_entry(node);
        while let Some(entry) = next {
            self.rest_of(entry)?;
            next = self.tree.next_entry(entry);
        }
        Ok(())
    }

    fn value(&mut self, scope: usize, node: usize) -> Result<(), TransformFailure> {
        let (tag, value) = (self.tree.tag(node), self.tree.value(node));
        if self.link.to.surely_takes(tag, value, self.times) {
            return Ok(());
        }
        let Some(field) = self.link.to.field(tag) else {
            return Ok(());
        };
        if field.kind.is_multiple() && !field.values.is_empty() && !value.is_empty() {
            return self.words(scope, node, field);
        }
        if !value.is_empty() && field.kind.accepts(value) && field.allows(value) {
            return Ok(());
        }
        self.homeless(scope, node)
    }

    /// Keeps those words of a multiple-value field that the target allows.
    fn words(
        &mut self,
        scope: usize,
        node: usize,
        field: &FieldDef,
    ) -> Result<(), TransformFailure> {
        let before = self.tree.span(node);
        let tag = field.tag;
        let dropped = self
            .tree
            .change_words(node, |word| match field.allows(word) {
                true => Word::Kept,
                false => Word::Dropped,
            });
        if dropped == 0 {
            return Ok(());
        }
        match self.policy(tag) {
            Policy::Drop => self.lost.push(tag),
            Policy::Tag(offset) => {
                let levels = &self.link.levels;
                self.tree
                    .set(levels, scope, tag.saturating_add(offset), before);
            }
            Policy::Reject => return Err(TransformFailure::Homeless(tag)),
        }
        Ok(())
    }

    fn homeless(&mut self, scope: usize, node: usize) -> Result<(), TransformFailure> {
        let tag = self.tree.tag(node);
        match self.policy(tag) {
            Policy::Drop => self.lose(node),
            Policy::Tag(offset) => {
                let level = &self.link.levels[self.tree.level(scope)];
                let order = level.order(tag.saturating_add(offset));
                self.move_away(scope, node, offset, Some(order));
            }
            Policy::Reject => return Err(TransformFailure::Homeless(tag)),
        }
        Ok(())
    }

    /// The policy of a field. For data fields, see [`Policy::Tag`].
    fn policy(&self, tag: Tag) -> Policy {
        let has_partner = |dictionary: &Dictionary| {
            let field = dictionary.field(tag);
            field.is_some_and(|field| field.partner.is_some() || field.kind.is_data())
        };
        match self.policies.of(tag) {
            Policy::Tag(_) if has_partner(&self.link.from) || has_partner(&self.link.to) => {
                Policy::Drop
            }
            policy => policy,
        }
    }

    /// Moves a field, and the group entries that it counts, to user-defined tags. Recursion is as deep as in
    /// [`rest_of`](Self::rest_of).
    fn move_away(&mut self, scope: usize, node: usize, offset: u32, order: Option<u32>) {
        let tag = self.tree.tag(node);
        if tag == 0 || tag >= FIRST_USER_DEFINED {
            return;
        }
        if let Policy::Drop = self.policy(tag) {
            self.lose(node);
            return;
        }
        self.tree.rename(
            &self.link.levels,
            scope,
            node,
            tag.saturating_add(offset),
            order,
        );
        let mut entry = self.tree.first_entry(node);
        while let Some(scope) = entry {
            let mut next = self.tree.first(scope);
            while let Some(field) = next {
                self.move_away(scope, field, offset, None);
                next = self.tree.next(field);
            }
            entry = self.tree.next_entry(scope);
        }
    }
}
