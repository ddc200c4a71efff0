//! The section `[llm]`: which model, where its key is, what it may cost.
//!
//! A key is never accepted for an address that would carry it unencrypted over a network.

use std::time::Duration;

use super::{
    home::Home,
    raw::RawLlm,
    secret::{self, is_loopback},
};
use crate::model::llm::{BudgetLimits, LlmSettings, Provider, SpendLimit, TokenPrice};

/// Checks the section. Returns none when no model is configured.
pub(super) fn validate_llm(raw: RawLlm, home: &Home) -> Result<Option<LlmSettings>, String> {
    let provider: Provider = raw.provider.parse().map_err(|error| format!("llm.provider: {error}"))?;
    if provider == Provider::Off {
        return Ok(None);
    }
    if raw.model.trim().is_empty() {
        return Err(format!("llm.model is empty; expected the name of a model of {provider}"));
    }
    if !(1..=600).contains(&raw.timeout_seconds) {
        return Err(format!("llm.timeout_seconds is {}; expected 1 to 600", raw.timeout_seconds));
    }
    if !(1..=64).contains(&raw.at_once) {
        return Err(format!("llm.at_once is {}; expected 1 to 64", raw.at_once));
    }
    let key = secret::read("llm.key", &raw.key, &raw.key_file, home)?;
    Ok(Some(LlmSettings {
        provider,
        base_url: base_url(provider, &raw.base_url, key.is_some())?,
        key,
        deadline: Duration::from_secs(raw.timeout_seconds),
        max_concurrent: raw.at_once,
        budget: BudgetLimits {
            day: validate_limit("day", raw.tokens_per_day, raw.money_per_day, &raw)?,
            task: validate_limit("task", raw.tokens_per_task, raw.money_per_task, &raw)?,
        },
        price: TokenPrice {
            input: check_amount("price_in", raw.price_in)?,
            output: check_amount("price_out", raw.price_out)?,
        },
        model: raw.model,
    }))
}

/// Returns the address of the server without a slash at its end. Plain http is accepted only without a key or to this
/// machine.
fn base_url(provider: Provider, given: &str, has_key: bool) -> Result<String, String> {
    let known = match provider {
        Provider::OpenAi => "https://api.openai.com/v1",
        Provider::Anthropic => "https://api.anthropic.com/v1",
        Provider::Gemini => "https://generativelanguage.googleapis.com/v1beta/openai",
        Provider::Ollama => "http://127.0.0.1:11434/v1",
        Provider::Compatible | Provider::Off => "",
    };
    let url = if given.is_empty() { known } else { given }.trim_end_matches('/');
    let example = "such as \"http://127.0.0.1:8080/v1\"";
    match url.split_once("://") {
        Some(("https", host)) if !host.is_empty() => {}
        Some(("http", host)) if is_loopback(host) || (!has_key && !host.is_empty()) => {}
        Some(("http", _)) => {
            return Err(format!(
                "llm.base_url: '{url}' would send the key in the clear; use https, or a server on this machine"
            ));
        }
        _ => return Err(format!("llm.base_url is '{url}'; expected an address {example}")),
    }
    if url.contains(['@', '?', '#']) || url.contains(char::is_whitespace) {
        return Err(format!("llm.base_url has more than a host and a path; expected one {example}"));
    }
    Ok(url.to_owned())
}

/// Returns a limit on tokens and money, where 0 stands for no limit. Money without a price could never be counted, so
/// it is refused.
fn validate_limit(per: &str, tokens: u64, money_limit: f64, raw: &RawLlm) -> Result<SpendLimit, String> {
    let most = check_amount(&format!("money_per_{per}"), money_limit)?;
    if most > 0.0 && raw.price_in <= 0.0 && raw.price_out <= 0.0 {
        return Err(format!("llm.money_per_{per} is set but no price is; set llm.price_in and llm.price_out"));
    }
    let micros = (most * 1e6) as u64;
    Ok(SpendLimit { tokens: Some(tokens).filter(|most| *most > 0), micros: Some(micros).filter(|most| *most > 0) })
}

fn check_amount(key: &str, value: f64) -> Result<f64, String> {
    if value.is_finite() && (0.0..1e6).contains(&value) {
        Ok(value)
    } else {
        Err(format!("llm.{key} is {value}; expected an amount from 0"))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn raw(provider: &str) -> RawLlm {
        RawLlm { provider: provider.into(), model: "m".into(), ..RawLlm::default() }
    }

    fn home() -> Home {
        Home::at("/home/of/it".into())
    }

    #[test]
    fn off_is_none_and_each_provider_has_an_address() {
        assert_eq!(validate_llm(RawLlm::default(), &home()).unwrap(), None);
        for provider in ["openai", "anthropic", "gemini", "ollama"] {
            let settings = validate_llm(raw(provider), &home()).unwrap().unwrap();
            assert!(settings.base_url.starts_with("http"), "{provider}");
        }
    }

    #[test]
    fn a_key_never_travels_in_the_clear() {
        let at = |base_url: &str, key: &str| {
            validate_llm(RawLlm { base_url: base_url.into(), key: key.into(), ..raw("compatible") }, &home())
        };
        assert!(at("http://127.0.0.1:8080/v1/", "k").is_ok());
        assert!(at("http://[::1]:8080/v1", "k").is_ok());
        assert!(at("http://192.0.2.7:8080/v1", "").is_ok());
        assert!(at("https://models.example/v1", "k").is_ok());
        for (url, key) in [
            ("http://192.0.2.7/v1", "k"),
            ("http://127.0.0.1.evil.example/v1", "k"),
            ("http://localhost@evil.example/v1", "k"),
            ("https://user:pass@evil.example/v1", "k"),
            ("", ""),
            ("file:///etc/passwd", ""),
        ] {
            assert!(at(url, key).is_err(), "{url}");
        }
    }

    #[test]
    fn a_key_file_that_others_can_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        std::fs::write(&file, "sk-1\n").unwrap();
        let read = |mode| {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            let raw = RawLlm { key_file: "key".into(), ..raw("openai") };
            validate_llm(raw, &Home::at(folder.path().to_owned()))
        };
        assert!(read(0o644).unwrap_err().contains("chmod 600"));
        assert_eq!(read(0o600).unwrap().unwrap().key.unwrap().reveal(), "sk-1");
    }

    #[test]
    fn money_needs_prices_and_zero_is_no_limit() {
        let error = validate_llm(RawLlm { money_per_day: 1.0, ..raw("openai") }, &home()).unwrap_err();
        assert!(error.contains("price_in"), "{error}");
        let priced = RawLlm { money_per_day: 1.5, price_in: 0.1, tokens_per_task: 0, ..raw("openai") };
        let budget = validate_llm(priced, &home()).unwrap().unwrap().budget;
        assert_eq!((budget.day.micros, budget.task.tokens), (Some(1_500_000), None));
    }
}
