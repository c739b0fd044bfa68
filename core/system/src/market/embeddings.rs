//! The model whose embeddings are compared (003 §13.1).

use cowboy_state::{Key, Miss, World};
use cowboy_types::Hash;

/// The model whose embeddings are compared, held by governance (003 §13.1).
pub fn embedding_model_key() -> Key {
    Key::system(cowboy_types::actors::GOVERNANCE, "system:cip2:semantic_similarity_embedding_model")
}

/// The model whose embeddings are compared; zero where none was named.
pub fn embedding_model(world: &World) -> Result<Hash, Miss> {
    Ok(world.read(&embedding_model_key())?.unwrap_or(Hash::ZERO))
}
