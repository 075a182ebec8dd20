//! The pi that is installed on this machine: found, looked at, patched in place, and taken back.
//!
//! [`Surroundings`] is what of the machine counts; [`find_all`] finds every pi in it, [`locate`] the one that a user names.
//! A [`Pi`] knows which package decides for it, its [`Target`]: its own bundle, or the pi-ai that it loads. [`inspect`] says
//! whether that is patched and by what, [`Settings`] what pi's own settings say, and [`diagnose`] puts all this together.
//! [`apply`] and [`revert`] change a target; a run that ends at any point leaves a pi that works.

mod apply;
mod diagnose;
mod error;
mod executable;
mod find;
mod folders;
mod globs;
mod managers;
mod pi;
mod project;
mod record;
mod recover;
mod replace;
mod revert;
mod settings;
mod stale;
mod state;
mod steps;
mod surroundings;
mod wrapper;

pub use self::apply::{Applied, Options, Plan, apply, plan};
pub(crate) use self::diagnose::quoted;
pub use self::diagnose::{Diagnosis, Finding, ShimReport, diagnose};
pub use self::error::{Error, Kind, Result};
pub use self::executable::{Program, locate};
pub use self::find::{Seen, Sighting, find_all};
pub use self::pi::{Pi, Target};
pub use self::project::{Manager, Project};
pub use self::record::FOLDER;
pub use self::revert::{Reverted, planned_revert, revert};
pub use self::settings::{Retry, Settings, Shim};
pub use self::state::{By, Inspection, Originals, State, inspect};
pub use self::steps::Steps;
pub use self::surroundings::Surroundings;
