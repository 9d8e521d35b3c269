//! [`VenueSettings`]: the session or link on which a plan is played, from its settings file.

use std::path::{Path, PathBuf};

use fixwire::config::LinkConfig;
use fixwire::settings::{Settings, Source};
use fixwire::{Connection, SessionConfig};
use fixwire_certify::{CertificationPlan, PlanProtocol, VenueSession};
use fixwire_tmp::ClientLinkSettings;

use super::CertifyArgs;
use crate::client::choose_session;
use crate::failure::{Failure, show};

/// The session or link of a plan.
pub enum VenueSettings {
    /// A FIX session.
    Fix(Box<SessionConfig>),
    /// The broker's end of a TMP link.
    Tmp(Box<(LinkConfig, ClientLinkSettings)>),
}

impl VenueSettings {
    /// The session or link that the plan or the command line names.
    pub fn of(args: &CertifyArgs, plan: &CertificationPlan) -> Result<Self, Failure> {
        let file = settings_file(args, plan)?;
        // The plan names a session of its own settings file. With `--settings`, that name does not count.
        let of_plan = plan.session.as_ref().filter(|_| args.settings.is_none());
        let name = args.session.as_ref().or(of_plan).map(String::as_str);
        let source = Source::read(&file)?;
        let settings = match plan.protocol {
            PlanProtocol::Fix => args.reading.of_file(&source)?,
            PlanProtocol::Tmp => args.reading.of_links(&source)?,
        };
        show(&settings.report);
        if plan.protocol == PlanProtocol::Tmp {
            return link(&file, name, &settings);
        }
        let mut config = settings.to_config()?;
        choose_session(&file, name, "a certification", &settings, &mut config)?;
        Ok(Self::Fix(Box::new(config.sessions.swap_remove(0))))
    }

    /// The parts that a player of a plan needs.
    pub fn session(&self) -> VenueSession<'_> {
        match self {
            Self::Fix(session) => VenueSession::Fix(session),
            Self::Tmp(both) => VenueSession::Tmp {
                link: &both.0,
                settings: &both.1,
            },
        }
    }
}

fn settings_file(args: &CertifyArgs, plan: &CertificationPlan) -> Result<PathBuf, Failure> {
    let beside = |file: &String| args.plan.parent().unwrap_or(Path::new("")).join(file);
    let of_plan = || plan.settings.as_ref().map(beside);
    let file = args.settings.clone().or_else(of_plan);
    file.ok_or_else(|| {
        Failure::Text(format!(
            "{}: the plan has no session: write 'session FILE.cfg' or 'link FILE.toml' before its first case, or use \
             --settings FILE for a plan over FIX",
            args.plan.display()
        ))
    })
}

/// The link with this name, or the only link of the file.
fn link(file: &Path, name: Option<&str>, settings: &Settings) -> Result<VenueSettings, Failure> {
    let fail = |why: String| Failure::Text(format!("{}: {why}", file.display()));
    if !settings.exchange.is_empty() {
        let why =
            "the file configures an exchange: a certification needs the broker's end of a link";
        return Err(fail(why.to_owned()));
    }
    let mut links = settings.to_config()?.links;
    if let Some(name) = name {
        links.retain(|link| link.name == name);
        if links.is_empty() {
            let why = format!("no link {name}: 'fixwire check' lists the links of the file");
            return Err(fail(why));
        }
    }
    let count = links.len();
    let Some(link) = links.pop().filter(|_| count == 1) else {
        let why = format!(
            "the file has {count} links, and a certification uses one: select it with --session"
        );
        return Err(fail(why));
    };
    if !matches!(link.connection, Connection::Initiator { .. }) {
        let why = format!(
            "link {} is an acceptor: a certification needs ConnectionType = \"initiator\"",
            link.name
        );
        return Err(fail(why));
    }
    let lines = settings.tmp_lines()?.into_iter();
    let found = { lines }.find(|(name, _)| *name == link.name);
    let Some((_, login)) = found else {
        return Err(fail(format!(
            "link {} is not configured to log in to a venue",
            link.name
        )));
    };
    Ok(VenueSettings::Tmp(Box::new((link, login))))
}
