//! The files of an OMS, which change while it runs.

use std::sync::{Arc, Mutex};

use fixwire_engine::Operator;
use fixwire_oms::load::{Diagnostic, load};
use fixwire_oms::rules::RiskRules;
use fixwire_oms::{NewSettings, ReloadKind, SettingsSource};

use super::Floor;

/// The files of the OMS as they are now.
#[derive(Clone, Debug)]
pub struct Files {
    pub settings: String,
    pub instruments: String,
    pub limits: String,
    pub restricted: String,
    pub texts: String,
    /// The names of symbols at the venue.
    pub symbols: String,
    /// A conversion table.
    pub table: String,
}

impl Files {
    pub fn read(&self) -> Result<RiskRules, Vec<Diagnostic>> {
        let mut open = |file: &str| match file {
            "instruments.csv" => Ok(self.instruments.clone()),
            "restricted.csv" => Ok(self.restricted.clone()),
            "texts.csv" => Ok(self.texts.clone()),
            "symbols.csv" => Ok(self.symbols.clone()),
            "table.conv" => Ok(self.table.clone()),
            _ => Ok(self.limits.clone()),
        };
        load(&self.settings, &["CLIENT", "SIM-1", "COPY"], &mut open)
    }
}

/// Settings on their way to the OMS, and back.
#[derive(Clone, Debug, Default)]
pub struct Slot {
    pub new: Arc<Mutex<Option<Box<NewSettings>>>>,
    pub spent: Arc<Mutex<Option<Box<NewSettings>>>>,
}

impl SettingsSource for Slot {
    fn take(&self) -> Option<Box<NewSettings>> {
        self.new.lock().unwrap().take()
    }

    fn give_back(&self, spent: Box<NewSettings>) {
        *self.spent.lock().unwrap() = Some(spent);
    }
}

impl Floor {
    /// The files change.
    pub fn edit(&mut self, edit: impl FnOnce(&mut Files)) {
        edit(&mut self.files.lock().unwrap());
    }

    /// An operator reloads settings; the answer, `None` when the process died before it.
    pub fn reload_as(
        &mut self,
        who: &str,
        rules: RiskRules,
        kind: ReloadKind,
    ) -> Option<Result<String, String>> {
        let new = NewSettings {
            rules,
            kind,
            is_applied: false,
        };
        *self.slot.new.lock().unwrap() = Some(Box::new(new));
        self.settle();
        let crashes = self.crashes;
        let mut handle = self.world.handle().expect("it runs");
        let operator = Operator::new(who, "a test");
        let answer = handle.command(fixwire_oms::RELOAD, operator).unwrap();
        self.settle();
        let answer = answer.try_recv().ok().filter(|_| self.crashes == crashes)?;
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Some(answer.map(text).map_err(|why| why.to_string()))
    }

    /// An operator reloads the files, again if the process died before its answer.
    pub fn reload(&mut self) -> Result<String, String> {
        for _ in 0..10 {
            let rules = self.files.lock().unwrap().read();
            let rules = rules.expect("the files are right");
            if let Some(answer) = self.reload_as("ann", rules, ReloadKind::Files) {
                return answer;
            }
        }
        panic!("no answer to a reload");
    }

    /// What a reload would change.
    pub fn check_reload(&mut self) -> Result<String, String> {
        let rules = self.files.lock().unwrap().read().unwrap();
        let new = NewSettings {
            rules,
            kind: ReloadKind::Files,
            is_applied: false,
        };
        *self.slot.new.lock().unwrap() = Some(Box::new(new));
        let mut handle = self.world.handle().expect("it runs");
        let answer = handle.query(fixwire_oms::RELOAD).unwrap();
        self.settle();
        let answer = answer.try_recv().expect("an answer");
        let text = |bytes| String::from_utf8(bytes).unwrap();
        answer.map(text).map_err(|why| why.to_string())
    }
}
