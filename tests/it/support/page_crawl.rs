//! What a signed-in browser finds on the page by following links: pages of every route and forms of every change.

use std::collections::BTreeMap;

use adjutant::web::{Protection, RouteEntry, route_table};

use super::served_page::ServedPage;

/// A form of a page, with its hidden fields.
#[derive(Debug, Clone)]
pub(crate) struct PageForm {
    pub(crate) action: String,
    pub(crate) fields: Vec<(String, String)>,
}

impl PageForm {
    /// Returns the fields as a browser sends them.
    pub(crate) fn encoded(&self) -> String {
        encode(self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }

    /// Returns the form with another value in one field.
    pub(crate) fn with(&self, name: &str, value: &str) -> Self {
        let mut fields = self.fields.clone();
        fields.iter_mut().filter(|(known, _)| known == name).for_each(|(_, old)| *old = value.to_owned());
        Self { fields, ..self.clone() }
    }
}

fn encode<'a>(fields: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let percent = |text: &str| text.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
    fields.map(|(name, value)| format!("{}={}", percent(name), percent(value))).collect::<Vec<_>>().join("&")
}

/// Returns the value of an attribute in a tag.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    tag.split_once(&format!(" {name}=\""))?.1.split('"').next()
}

/// Returns the forms of a page that change something.
fn forms(html: &str) -> Vec<PageForm> {
    let mut found = Vec::new();
    for piece in html.split("<form").skip(1) {
        let form = piece.split("</form>").next().unwrap();
        let (tag, inside) = form.split_once('>').unwrap();
        if attribute(tag, "method") != Some("post") {
            continue;
        }
        let inputs = inside.split("<input").skip(1).map(|piece| piece.split('>').next().unwrap());
        let fields = inputs.filter_map(|tag| {
            Some((attribute(tag, "name")?.to_owned(), attribute(tag, "value").unwrap_or_default().to_owned()))
        });
        found.push(PageForm { action: attribute(tag, "action").unwrap().to_owned(), fields: fields.collect() });
    }
    found
}

/// Returns the links of a page to this server.
fn links(html: &str) -> Vec<String> {
    let links = html.split(" href=\"").skip(1).map(|piece| piece.split('"').next().unwrap().replace("&amp;", "&"));
    links.filter(|link| link.starts_with('/') && !link.starts_with("/assets/")).collect()
}

/// Returns whether a path is one of this route.
fn is_of(route: &RouteEntry, path: &str) -> bool {
    let path = path.split('?').next().unwrap();
    let (template, path): (Vec<&str>, Vec<&str>) = (route.path.split('/').collect(), path.split('/').collect());
    template.len() == path.len() && template.iter().zip(&path).all(|(one, other)| one.starts_with('{') || one == other)
}

/// What a signed-in browser finds by following links: a path for every route, and a form for every change.
pub(crate) struct Found {
    pub(crate) paths: BTreeMap<String, String>,
    pub(crate) forms: BTreeMap<String, PageForm>,
}

/// Follows links from the first pages, to at most so many pages of each route.
pub(crate) fn crawl(served: &ServedPage, cookie: &str, pages_each: usize) -> Found {
    let table = route_table();
    let is_page = |route: &&RouteEntry| route.protection == Protection::Session && route.path != "/live";
    let mut found = Found { paths: BTreeMap::new(), forms: BTreeMap::new() };
    let mut due = vec!["/approvals".to_owned()];
    due.extend(
        table.iter().filter(is_page).filter(|route| !route.path.contains('{')).map(|route| route.path.to_owned()),
    );
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    while let Some(path) = due.pop() {
        let Some(route) = table.iter().filter(is_page).find(|route| is_of(route, &path)) else { continue };
        let visits = seen.entry(route.path.to_owned()).or_default();
        if found.paths.values().any(|known| *known == path) || *visits >= pages_each {
            continue;
        }
        *visits += 1;
        found.paths.insert(format!("{} {visits}", route.path), path.clone());
        let answer = served.get(&path, cookie);
        for form in forms(&answer.body) {
            let change = table.iter().find(|route| route.method == "POST" && is_of(route, &form.action));
            let change = change.unwrap_or_else(|| panic!("{path} has a form for {}, which is no route", form.action));
            found.forms.entry(change.path.to_owned()).or_insert(form);
        }
        due.extend(links(&answer.body));
    }
    found
}

impl Found {
    /// Returns a path for a route: one that was found, else one with made-up names.
    pub(crate) fn example(&self, route: &RouteEntry) -> String {
        if let Some(form) = self.forms.get(route.path).filter(|_| route.method == "POST") {
            return form.action.clone();
        }
        let known = self.paths.get(&format!("{} 1", route.path)).cloned();
        known.unwrap_or_else(|| {
            let parts = route.path.split('/').map(|part| if part.starts_with('{') { "1" } else { part });
            parts.collect::<Vec<_>>().join("/")
        })
    }
}
