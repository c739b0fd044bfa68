//! x
use cowboy_container::*;
#[tokio::test]
async fn first() {
    let dir = tempfile::tempdir().unwrap();
    let helper = Helper { program: env!("CARGO_BIN_EXE_cowboy-box-trial").into(), arguments: vec!["box".into()] };
    let boxes = Boxes::open(&dir.path().join("state"), helper).unwrap();
    let t = std::time::Instant::now();
    println!("{:?} {:?}", boxes.probe().await, t.elapsed());
    let mut plan = Plan::new("/", vec![env!("CARGO_BIN_EXE_cowboy-box-trial").to_owned(), "a".into()]);
    plan.limits.scratch_mib = 1;
    let t = std::time::Instant::now();
    println!("{:?} {:?}", boxes.run(plan, std::future::pending()).await, t.elapsed());
}
