//! Refusals as HTTP answers, and requests that are refused in our own words.

use axum::{
    Json,
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Path, Query, Request},
    http::{StatusCode, request::Parts},
    response::{IntoResponse, Response},
};
use cowboy_api::{
    ApiError, HexText,
    error::{BAD_REQUEST, BODY_TOO_LARGE, BUSY, Fault, NOT_FOUND, SERVER},
};
use cowboy_node::AskError;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Why a request is refused. Answers with the error's status and JSON.
#[derive(Clone, Debug)]
pub(crate) struct Refusal(pub(crate) ApiError);

/// What a method answers.
pub(crate) type Answer<T> = Result<Json<T>, Refusal>;

impl Refusal {
    /// A fault with particulars.
    pub(crate) fn new(fault: Fault, context: Value) -> Self {
        Self(ApiError::of_fault(fault).with(context))
    }

    /// The node has nothing of this kind and name, which the first sentence of the error names.
    pub(crate) fn missing(kind: &str, name: impl std::fmt::Display) -> Self {
        let context = json!({ kind: name.to_string() });
        Self::missing_with(kind, name, context)
    }

    /// The same with another context.
    pub(crate) fn missing_with(kind: &str, name: impl std::fmt::Display, context: Value) -> Self {
        let what = format!("The node has no {kind}: {name}.");
        Self(ApiError { what, ..ApiError::of_fault(NOT_FOUND).with(context) })
    }

    /// The request has a field that is not what the method takes.
    pub(crate) fn bad(field: &str, reason: impl std::fmt::Display) -> Self {
        Self::new(BAD_REQUEST, json!({ field: reason.to_string() }))
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self(ApiError::of_fault(fault))
    }
}

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Self {
        Self(error)
    }
}

impl From<cowboy_node::Unavailable> for Refusal {
    fn from(_: cowboy_node::Unavailable) -> Self {
        BUSY.into()
    }
}

impl From<AskError> for Refusal {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Unavailable(unavailable) => unavailable.into(),
            AskError::Store(error) => error.into(),
            AskError::TooOld(_) | AskError::NotYet { .. } => Self::new(BUSY, json!({ "reason": error.to_string() })),
        }
    }
}

impl From<cowboy_store::StoreError> for Refusal {
    fn from(error: cowboy_store::StoreError) -> Self {
        tracing::error!(%error, "the ledger cannot be read");
        Self::new(SERVER, json!({ "reason": error.to_string() }))
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, Json(self.0)).into_response()
    }
}

/// The segment of the path that names something.
pub(crate) struct Named<T>(pub(crate) T);

impl<S: Send + Sync, T: HexText> FromRequestParts<S> for Named<T> {
    type Rejection = Refusal;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let Segment(text) = Segment::from_request_parts(parts, state).await?;
        parse(&text).map(Named)
    }
}

/// The value of these hex digits.
pub(crate) fn parse<T: HexText>(text: &str) -> Result<T, Refusal> {
    T::parse(text)
        .map_err(|reason| Refusal::new(BAD_REQUEST, json!({ "value": text.chars().take(100).collect::<String>(), "reason": reason })))
}

/// The one variable segment of the path, as text.
pub(crate) struct Segment(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Segment {
    type Rejection = Refusal;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        match Path::<String>::from_request_parts(parts, state).await {
            Ok(Path(text)) => Ok(Self(text)),
            Err(rejection) => Err(Refusal::bad("path", rejection.body_text())),
        }
    }
}

/// The query parameters.
pub(crate) struct Asked<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = Refusal;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        match Query::<T>::from_request_parts(parts, state).await {
            Ok(Query(asked)) => Ok(Self(asked)),
            Err(rejection) => Err(Refusal::bad("query", rejection.body_text())),
        }
    }
}

/// The body, within its bound.
pub(crate) struct Raw(pub(crate) Bytes);

impl<S: Send + Sync> FromRequest<S> for Raw {
    type Rejection = Refusal;
    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        match Bytes::from_request(request, state).await {
            Ok(bytes) => Ok(Self(bytes)),
            Err(rejection) if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE => Err(BODY_TOO_LARGE.into()),
            Err(rejection) => Err(Refusal::bad("body", rejection.body_text())),
        }
    }
}

/// The JSON of the body.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Refusal;
    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        let Raw(bytes) = Raw::from_request(request, state).await?;
        from_json(&bytes).map(Body)
    }
}

/// A JSON body. An empty one counts as `{}`.
pub(crate) fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refusal> {
    let bytes = if bytes.is_empty() { b"{}" } else { bytes };
    serde_json::from_slice(bytes).map_err(|error| Refusal::bad("json", error))
}
