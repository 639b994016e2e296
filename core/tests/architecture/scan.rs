//! What a source file uses, tests apart.

use std::{
    fs,
    path::{Path, PathBuf},
};

use syn::{
    Attribute, Expr, ExprUnsafe, ItemFn, ItemImpl, ItemMod, ItemUse, Member, UseTree,
    visit::{self, Visit},
};

/// One file of `core/src`.
pub(crate) struct Source {
    /// Its path below `src`.
    pub(crate) path: String,
    /// The first name of its module path.
    pub(crate) module: String,
    /// Every path it uses, from `crate` or a crate's name on.
    pub(crate) uses: Vec<Vec<String>>,
    /// Every field it names.
    pub(crate) names: Vec<String>,
    pub(crate) has_unsafe: bool,
    pub(crate) lines: usize,
}

/// Every file of the crate.
pub(crate) fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    walk(&root, &mut files);
    files.sort();
    let read = |file: PathBuf| {
        let below = file.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        Source::parse(&below, &fs::read_to_string(file).unwrap())
    };
    files.into_iter().filter(|file| !is_test_file(file)).map(read).collect()
}

fn is_test_file(file: &Path) -> bool {
    file.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs")
}

fn walk(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

impl Source {
    /// The file at `path` below `src`.
    pub(crate) fn parse(path: &str, text: &str) -> Self {
        let place = path.trim_end_matches(".rs").trim_end_matches("/mod");
        let module: Vec<_> = place.split('/').map(str::to_owned).collect();
        let mut scan = Scan { module: module.clone(), ..Scan::default() };
        scan.visit_file(&syn::parse_file(text).unwrap_or_else(|error| panic!("{path}: {error}")));
        let tests = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
        Self {
            path: path.to_owned(),
            module: module[0].clone(),
            uses: scan.uses,
            names: scan.names,
            has_unsafe: scan.has_unsafe,
            lines: text[..tests].lines().count(),
        }
    }
}

#[derive(Default)]
struct Scan {
    module: Vec<String>,
    uses: Vec<Vec<String>>,
    names: Vec<String>,
    has_unsafe: bool,
}

impl Scan {
    /// Notes a path, with `self` and `super` resolved.
    fn note(&mut self, segments: &[String]) {
        let ups = segments.iter().take_while(|segment| *segment == "super").count();
        let is_local = ups > 0 || segments.first().is_some_and(|first| first == "self");
        let rest = &segments[if ups > 0 { ups } else { usize::from(is_local) }..];
        let resolved = if is_local {
            let kept = self.module.len().saturating_sub(ups);
            let own = self.module[..kept].iter().cloned();
            std::iter::once("crate".to_owned()).chain(own).chain(rest.iter().cloned()).collect()
        } else {
            segments.to_vec()
        };
        self.uses.push(resolved);
    }

    fn tree(&mut self, tree: &UseTree, mut prefix: Vec<String>) {
        match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.tree(&path.tree, prefix);
            }
            UseTree::Name(name) => {
                prefix.push(name.ident.to_string());
                self.note(&prefix);
            }
            UseTree::Rename(name) => {
                prefix.push(name.ident.to_string());
                self.note(&prefix);
            }
            UseTree::Glob(_) => self.note(&prefix),
            UseTree::Group(group) => {
                group.items.iter().for_each(|item| self.tree(item, prefix.clone()));
            }
        }
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

impl<'a> Visit<'a> for Scan {
    fn visit_item_mod(&mut self, item: &'a ItemMod) {
        if !is_for_tests(&item.attrs) {
            self.module.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.module.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'a ItemUse) {
        if !is_for_tests(&item.attrs) {
            self.tree(&item.tree, Vec::new());
        }
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        let segments: Vec<_> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        if segments.len() > 1 {
            self.note(&segments);
        }
        visit::visit_path(self, path);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Field(field) = expr
            && let Member::Named(name) = &field.member
        {
            self.names.push(name.to_string());
        }
        visit::visit_expr(self, expr);
    }

    fn visit_expr_unsafe(&mut self, block: &'a ExprUnsafe) {
        self.has_unsafe = true;
        visit::visit_expr_unsafe(self, block);
    }

    fn visit_item_fn(&mut self, item: &'a ItemFn) {
        self.has_unsafe |= item.sig.unsafety.is_some();
        visit::visit_item_fn(self, item);
    }

    fn visit_item_impl(&mut self, item: &'a ItemImpl) {
        self.has_unsafe |= item.unsafety.is_some();
        visit::visit_item_impl(self, item);
    }
}
