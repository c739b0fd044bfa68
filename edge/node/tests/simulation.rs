//! Whole nodes: one over real sockets and files, and whole networks under the deterministic runtime.
//!
//! One binary for all of them, because each instantiates the engine.

mod devnet {
    use cowboy_node::{BlockTime, Genesis, NodeConfig, NodeHandle, genesis::dev_committee};
    use cowboy_types::TimestampMs;
    use std::time::Duration;

    fn config(directory: &std::path::Path, block_time: BlockTime) -> NodeConfig {
        let (committee, mut keys) = dev_committee(1);
        let genesis = Genesis::new(b"test", TimestampMs(0), Vec::new(), committee, true);
        let mut config = NodeConfig::alone(directory.to_owned(), genesis, keys.remove(0));
        config.block_time = block_time;
        config
    }

    fn wait_for(node: &NodeHandle, number: u64) {
        let mut head = node.watch_head();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async { head.wait_for(|head| head.number >= number).await.expect("the node lives") });
    }

    /// a lone validator makes certified blocks and goes on from the same state after a restart.
    #[test]
    fn a_lone_validator_survives_a_restart() {
        let directory = tempfile::tempdir().expect("a folder");
        let node = NodeHandle::start(config(directory.path(), BlockTime::Every(Duration::from_millis(50)))).expect("it starts");
        wait_for(&node, 5);
        node.shutdown();
        let stopped_at = node.head();
        let node = NodeHandle::start(config(directory.path(), BlockTime::Every(Duration::from_millis(50)))).expect("it starts again");
        assert!(node.head().number >= stopped_at.number);
        wait_for(&node, stopped_at.number + 5);
        let view = node.chain().expect("it runs").ledger.view().expect("the ledger opens");
        for number in 1..=stopped_at.number {
            assert!(view.block(number).expect("the ledger reads").is_some(), "block {number} is in the ledger");
            assert!(view.certificate(number).expect("the ledger reads").is_some(), "block {number} has a certificate");
        }
        node.shutdown();
    }
}
