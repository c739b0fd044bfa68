//! Calls in macros that are no syntax tree.

use super::source::Call;

/// Calls in tokens that are no syntax tree: `name(`, `.name(`, `qualifier::name`.
pub(crate) fn tokens(stream: proc_macro2::TokenStream, calls: &mut Vec<Call>) {
    let all: Vec<proc_macro2::TokenTree> = stream.into_iter().collect();
    for (at, token) in all.iter().enumerate() {
        match token {
            proc_macro2::TokenTree::Group(group) => tokens(group.stream(), calls),
            proc_macro2::TokenTree::Ident(ident) => {
                let is =
                    |at: usize, wanted: char| matches!(all.get(at), Some(proc_macro2::TokenTree::Punct(mark)) if mark.as_char() == wanted);
                let arguments = match all.get(at + 1) {
                    Some(proc_macro2::TokenTree::Group(group)) if group.delimiter() == proc_macro2::Delimiter::Parenthesis => Some(group),
                    _ => None,
                };
                let name = ident.to_string();
                if at > 0 && is(at - 1, '.') {
                    if let Some(group) = arguments {
                        let arity = arity_of(group.stream());
                        let receiver = match all.get(at.wrapping_sub(2)) {
                            Some(proc_macro2::TokenTree::Ident(ident)) if ident == "vm" => Some("Vm".to_owned()),
                            _ => None,
                        };
                        calls.push(Call::Method { receiver, name, arity });
                    }
                } else {
                    let before: Vec<String> = match (at >= 3 && is(at - 1, ':') && is(at - 2, ':')).then(|| &all[at - 3]) {
                        Some(proc_macro2::TokenTree::Ident(ident)) => vec![ident.to_string()],
                        _ => Vec::new(),
                    };
                    if arguments.is_some() || !before.is_empty() {
                        calls.push(Call::Path { before, name });
                    }
                }
            }
            _ => {}
        }
    }
}

fn arity_of(stream: proc_macro2::TokenStream) -> usize {
    let all: Vec<proc_macro2::TokenTree> = stream.into_iter().collect();
    if all.is_empty() {
        return 0;
    }
    let commas = all.iter().filter(|token| matches!(token, proc_macro2::TokenTree::Punct(mark) if mark.as_char() == ',')).count();
    let trailing = matches!(all.last(), Some(proc_macro2::TokenTree::Punct(mark)) if mark.as_char() == ',');
    commas + usize::from(!trailing)
}
