//! What `check` and `run` say about `[oms] database`.

use std::fs;

use crate::oms::Floor;
use crate::running::fixwire;

#[test]
fn a_database_that_cannot_be_used_is_an_error_of_the_settings() {
    let Floor {
        folder, running, ..
    } = Floor::begin("[oms]\n");
    drop(running);
    let folder = folder.path();
    let file = folder.join("oms.toml");
    let text = fs::read_to_string(&file).unwrap();
    let with = |table: &str| {
        fs::write(&file, text.replacen("[oms]\n", table, 1)).unwrap();
        let run = |verb: &str| fixwire().arg(verb).arg(&file).output().unwrap();
        let checked = run("check");
        let said = String::from_utf8(checked.stderr).unwrap();
        if !checked.status.success() {
            let run = String::from_utf8(run("run").stderr).unwrap();
            let mistake = said.split("\n\n").next().unwrap_or_default();
            assert!(run.contains(mistake), "{run}");
        }
        said
    };
    let has_tables = cfg!(feature = "postgresql");
    const ADDRESS: &str = "database = \"postgresql://me@db.example.com:5432/fix\"\n";
    let said = with(&format!("[oms]\n{ADDRESS}"));
    match has_tables {
        // Nothing connects to it.
        true => assert!(!said.contains("error"), "{said}"),
        false => assert!(
            said.contains(
                "this build of fixwire has no tables in PostgreSQL, the cargo feature `postgresql`"
            ),
            "{said}"
        ),
    }
    let said = with("[oms]\ndatabase = \"mysql://me@db/fix\"\n");
    assert!(
        said.contains("expected postgresql://USER@HOST:PORT/DATABASE"),
        "{said}"
    );
    let said = with(&format!("[oms]\n{ADDRESS}database_prefix = \"a b\"\n"));
    assert!(
        said.contains("\"a bpositions\" is not a valid table name"),
        "{said}"
    );
    let said = with("[oms]\ndatabase_prefix = \"x_\"\n");
    assert!(said.contains("database_prefix without database"), "{said}");
    let said = with(&format!(
        "[oms]\n{ADDRESS}database_password_file = \"missing\"\n"
    ));
    assert!(
        said.contains("database_password_file ") && said.contains("missing cannot be read"),
        "{said}"
    );
    // The line with the address is not shown when it may have a password.
    const OPEN: &str = "database = \"postgresql://me:hunter2@db.example.com/fix\"\n";
    let said = with(&format!(
        "[oms]\n{OPEN}database_password_file = \"missing\"\n"
    ));
    assert!(said.contains("missing cannot be read"), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
    fs::write(folder.join("secret"), "\n").unwrap();
    let said = with(&format!(
        "[oms]\n{ADDRESS}database_password_file = \"secret\"\n"
    ));
    assert!(said.contains("secret is empty"), "{said}");
    if has_tables {
        for address in ["me:hunter2@db/fix", "me@db/fix?password=hunter2"] {
            let said = with(&format!("[oms]\ndatabase = \"postgresql://{address}\"\n"));
            assert!(
                said.contains("set its password in database_password_file"),
                "{said}"
            );
            assert!(!said.contains("hunter2"), "{said}");
        }
    }
    if has_tables {
        for (parameters, why) in [
            (
                "sslmode=on",
                "sslmode has none of the values disable, prefer, require",
            ),
            (
                "sslmode=require&sslrootcert=ca.pem",
                "sslrootcert needs an absolute path",
            ),
            ("sslmode=require&sslrootcert=/missing.pem", "/missing.pem"),
        ] {
            let said = with(&format!(
                "[oms]\ndatabase = \"postgresql://me@db/fix?{parameters}\"\n"
            ));
            assert!(said.contains(why), "{said}");
        }
    }
    let memory = format!("[oms]\n{OPEN}");
    let memory = text.replacen("[oms]\n", &memory, 1);
    let memory = memory.replacen("[default]\n", "[default]\nDurability = \"memory\"\n", 1);
    fs::write(&file, memory).unwrap();
    let said = fixwire().arg("check").arg(&file).output().unwrap();
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(
        said.contains("database needs a journal, and Durability=memory keeps none"),
        "{said}"
    );
    assert!(!said.contains("hunter2"), "{said}");
}
