//! The password files of an engine. The engine reads the password files again when an operator requests it.

use std::path::PathBuf;
use std::sync::Arc;

use crate::users::{Users, UsersChange, UsersError};

/// The password files that the sessions of an engine name.
#[derive(Clone, Debug, Default)]
pub struct PasswordFiles(Vec<Arc<Users>>);

impl PasswordFiles {
    /// The files of these users, each once.
    pub fn of<'u>(users: impl Iterator<Item = &'u Arc<Users>>) -> Self {
        let mut files: Vec<Arc<Users>> = Vec::new();
        for users in users.filter(|users| users.file().is_some()) {
            if !files.iter().any(|known| Arc::ptr_eq(known, users)) {
                files.push(Arc::clone(users));
            }
        }
        Self(files)
    }

    /// Checks that each file can be read and has no mistake.
    ///
    /// # Errors
    ///
    /// The first file that cannot be read or has a mistake.
    pub fn check(&self) -> Result<(), (PathBuf, UsersError)> {
        for path in self.0.iter().filter_map(|users| users.file()) {
            Users::read(path).map_err(|error| (path.to_owned(), error))?;
        }
        Ok(())
    }

    /// Reads each file again. From then on, only the listed users may log on, with the listed passwords. Users who are
    /// logged on stay logged on. Returns the changes in each file.
    ///
    /// # Errors
    ///
    /// The first file that cannot be read or has a mistake. The users of no file have changed then, unless a file was
    /// changed between its check and its reading.
    pub fn read_again(&self) -> Result<Vec<UsersChange>, (PathBuf, UsersError)> {
        self.check()?;
        let files = self.0.iter();
        let files = files.filter_map(|users| Some((users, users.file()?)));
        files
            .map(|(users, path)| users.take(path).map_err(|error| (path.to_owned(), error)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    fn write(path: &Path, text: &str) {
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }

    #[test]
    fn a_leaked_password_can_be_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
        let [tiger, lion, wolf] = ["tiger", "lion", "wolf"].map(|it| hash(it.as_bytes()).unwrap());
        write(&one, &format!("anna:{tiger}\nbert:{tiger}\ncarl:{tiger}\n"));
        write(&two, &format!("dora:{tiger}\n"));
        let users = [&one, &two].map(|path| Arc::new(Users::read(path).unwrap()));
        let own = Arc::new(Users::one(b"me", &tiger).unwrap());
        let files = PasswordFiles::of([&users[0], &users[1], &users[0], &own].into_iter());
        write(
            &one,
            &format!(
                "# anna is another, bert is removed\nanna:{lion}\ncarl:{tiger}\nemil:{wolf}\n"
            ),
        );
        // A mistake in one file: nothing changes in any.
        write(&two, "dora:tiger\n");
        let (file, _) = files.read_again().unwrap_err();
        assert_eq!(file, two);
        assert!(users[0].check(b"anna", b"tiger") && users[0].check(b"bert", b"tiger"));
        write(&two, &format!("dora:{tiger}\n"));
        let changes = files.read_again().unwrap();
        assert_eq!(changes.len(), 2);
        let shown = changes[0].to_string();
        assert!(
            shown.ends_with(": 3 users, 1 added, 1 changed, 1 removed"),
            "{shown}"
        );
        assert!(
            changes[1]
                .to_string()
                .ends_with(": 1 user, 0 added, 0 changed, 0 removed")
        );
        assert!(!users[0].check(b"anna", b"tiger") && users[0].check(b"anna", b"lion"));
        assert!(!users[0].check(b"bert", b"tiger"), "removed");
        assert!(users[0].check(b"carl", b"tiger") && users[0].check(b"emil", b"wolf"));
        assert!(users[1].check(b"dora", b"tiger"));
    }

    #[test]
    fn a_changed_password_undoes_no_edit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users");
        let [tiger, lion] = ["tiger", "lion"].map(|it| hash(it.as_bytes()).unwrap());
        write(&path, &format!("anna:{tiger}\nbert:{tiger}\n"));
        let users = Users::read(&path).unwrap();
        // The operator revokes anna, and has not reloaded yet.
        write(&path, &format!("bert:{tiger}\n"));
        assert!(users.change(b"anna", lion.clone()).is_err());
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            format!("bert:{tiger}\n")
        );
        users.change(b"bert", lion.clone()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("bert:{lion}\n"));
        assert!(!users.check(b"anna", b"tiger") && users.check(b"bert", b"lion"));
        // Another hash of bert by the operator, then a file with a mistake.
        write(&path, &format!("bert:{tiger}\n"));
        assert!(users.change(b"bert", lion.clone()).is_err());
        write(&path, "bert\n");
        assert!(users.change(b"bert", lion).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "bert\n");
    }
}
