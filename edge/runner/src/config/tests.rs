use super::*;

/// The name of a table or of a field that a line of the example sets, also in a comment.
fn set(line: &str) -> Option<&str> {
    let line = line.trim_start_matches('#').trim_start();
    match line.strip_prefix('[') {
        Some(table) => table.split(']').next(),
        None => line.split_once(" = ").map(|(name, _)| name).filter(|name| name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'_'))),
    }
}

/// The fields of a table, as the decoder names them to whoever mistypes one.
fn fields(table: &str) -> Vec<String> {
    let error = toml::from_str::<Config>(&format!("[{table}]\nmistyped = 1")).expect_err("there is no such field");
    let (_, known) = error.message().split_once("expected").expect("the error names the fields");
    known.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The example has the defaults of all that it does not leave out. Whoever begins with it gets what the documentation promises.
#[test]
fn the_example_has_the_defaults() {
    let mut example: Config = toml::from_str(EXAMPLE).expect("the example is right");
    example.check().expect("the example is possible");
    assert!(example.runner.listen.take().is_some(), "it listens, which is no default");
    assert_eq!(example, Config { http: Some(Http::default()), ..Config::default() });
}

/// What the example has in comments is right, too, and no field is missing.
#[test]
fn the_example_has_every_field() {
    let text: Vec<&str> = EXAMPLE.lines().map(|line| line.strip_prefix("# ").filter(|rest| set(rest).is_some()).unwrap_or(line)).collect();
    let all: Config = toml::from_str(&text.join("\n")).expect("the comments are right");
    all.check().expect("the comments are possible");
    let container = all.container.expect("it has containers");
    let given = Container { layouts: container.layouts.clone(), registries: container.registries.clone(), ..Container::default() };
    assert_eq!(Container { cache: None, ..container }, given, "what is not a place is a default");
    let mut tables: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut table = "";
    for line in EXAMPLE.lines() {
        match set(line) {
            Some(name) if line.trim_start_matches('#').trim_start().starts_with('[') => table = name.split('.').next().unwrap_or_default(),
            Some(name) => tables.entry(table).or_default().push(name),
            None => {}
        }
    }
    for table in ["node", "runner", "rates", "http", "llm", "mcp.x", "tools.x", "container", "tee"] {
        let known = fields(table);
        assert!(!known.is_empty(), "{table}");
        let kind = table.split('.').next().unwrap_or_default();
        for field in known {
            assert!(tables.get(kind).is_some_and(|set| set.contains(&field.as_str())), "the example has no {table}.{field}");
        }
    }
}

/// A refusal names the field that is wrong.
#[test]
fn wrong_values_are_named() {
    let right = Config { http: Some(Http::default()), ..Config::default() };
    let http = |change: fn(&mut Http)| {
        let mut http = Http::default();
        change(&mut http);
        Config { http: Some(http), ..Config::default() }
    };
    let runner = |change: fn(&mut Work)| {
        let mut changed = right.clone();
        change(&mut changed.runner);
        changed
    };
    let rows = [
        (Config::default(), "kinds"),
        (runner(|work| work.max_concurrent = 0), "runner.max_concurrent"),
        (runner(|work| work.max_executing = 0), "runner.max_executing"),
        (runner(|work| work.heartbeat_blocks = 251), "runner.heartbeat_blocks"),
        (http(|http| http.allow = vec!["A.example.com".into()]), "http.allow"),
        (http(|http| http.max_silence_ms = 0), "http.max_silence_ms"),
        (http(|http| http.deny = vec!["A.example.com".into()]), "http.deny"),
        (http(|http| http.private_hosts = vec!["A.example.com".into()]), "http.private_hosts"),
        (http(|http| http.hosts = [("A.example.com".into(), SocketAddr::from(([127, 0, 0, 1], 443)))].into()), "http.hosts"),
    ];
    right.check().expect("it is right");
    for (config, expected) in rows {
        let error = config.check().expect_err(expected);
        assert!(matches!(error, ConfigError::Value { field, .. } if field == expected), "{error}");
    }
}
