//! The form in which `git am` takes a change: one mail a commit, as `git format-patch` writes them.

use std::fmt::Write as _;

use super::unified;

/// One commit as a mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    /// Which of how many, from one.
    pub number: (usize, usize),
    /// `Name <address>`.
    pub author: String,
    /// As RFC 5322 writes a date.
    pub date: String,
    /// The first line of the commit message, without `[PATCH …]`.
    pub subject: String,
    /// The rest of the commit message.
    pub body: String,
    /// For the reader of the mail; `git am` drops it.
    pub note: String,
    /// The files.
    pub files: Vec<MailFile>,
}

/// One file of a mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailFile {
    /// Path from the repository's root, with forward slashes.
    pub path: String,
    /// Text before; none for a new file.
    pub old: Option<String>,
    /// Text after.
    pub new: String,
}

impl MailFile {
    /// The diff, with its `diff --git` line.
    pub fn diff(&self) -> String {
        match &self.old {
            Some(old) => unified::diff(&self.path, old, &self.new, unified::CONTEXT),
            None => {
                let path = &self.path;
                let lines: String = self.new.split_inclusive('\n').map(|line| format!("+{line}")).collect();
                let count = self.new.split_inclusive('\n').count();
                let end = if self.new.ends_with('\n') { "" } else { "\n\\ No newline at end of file\n" };
                format!(
                    "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{count} @@\n{lines}{end}"
                )
            }
        }
    }
}

impl Mail {
    /// The file name, as `git format-patch` makes it, but for the ending.
    pub fn file_name(&self) -> String {
        let mut slug = String::new();
        for c in self.subject.chars() {
            if c.is_ascii_alphanumeric() {
                slug.push(c);
            } else if !slug.ends_with('-') {
                slug.push('-');
            }
        }
        format!("{:04}-{}.eml", self.number.0, slug.trim_matches('-'))
    }

    /// The mail's text.
    pub fn text(&self) -> String {
        let (number, total) = self.number;
        let mut text = String::new();
        let _ = write!(
            text,
            "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n\
             From: {}\nDate: {}\nSubject: [PATCH {number}/{total}] {}\nMIME-Version: 1.0\n\
             Content-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n\n{}\n---\n",
            self.author,
            self.date,
            self.subject,
            self.body.trim_end(),
        );
        if !self.note.is_empty() {
            let _ = write!(text, "{}\n\n", self.note.trim_end());
        }
        let (mut added, mut removed) = (0, 0);
        let width = self.files.iter().map(|file| file.path.len()).max().unwrap_or(0);
        for file in &self.files {
            let (plus, minus) = unified::count(&file.diff());
            added += plus;
            removed += minus;
            let _ = writeln!(text, " {:width$} | +{plus} -{minus}", file.path);
        }
        let _ = write!(text, " {} files changed, {added} insertions(+), {removed} deletions(-)\n\n", self.files.len());
        for file in &self.files {
            text += &file.diff();
        }
        text + "-- \n2.47.3\n\n"
    }
}

#[cfg(test)]
mod tests {
    use super::{Mail, MailFile};

    #[test]
    fn a_mail_reads_like_one_of_git() {
        let mail = Mail {
            number: (1, 2),
            author: "A <a@example.com>".to_owned(),
            date: "Mon, 30 Nov 2026 00:00:00 +0000".to_owned(),
            subject: "fix(ai): keep 500 out, always".to_owned(),
            body: "Why.\n".to_owned(),
            note: "For you.".to_owned(),
            files: vec![
                MailFile { path: "a.ts".to_owned(), old: Some("1\n2".to_owned()), new: "1\n3".to_owned() },
                MailFile { path: "b.ts".to_owned(), old: None, new: "new\n".to_owned() },
            ],
        };
        assert_eq!(mail.file_name(), "0001-fix-ai-keep-500-out-always.eml");
        insta::assert_snapshot!(mail.text(), @r"
        From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
        From: A <a@example.com>
        Date: Mon, 30 Nov 2026 00:00:00 +0000
        Subject: [PATCH 1/2] fix(ai): keep 500 out, always
        MIME-Version: 1.0
        Content-Type: text/plain; charset=UTF-8
        Content-Transfer-Encoding: 8bit

        Why.
        ---
        For you.

         a.ts | +1 -1
         b.ts | +1 -0
         2 files changed, 2 insertions(+), 1 deletions(-)

        diff --git a/a.ts b/a.ts
        --- a/a.ts
        +++ b/a.ts
        @@ -1,2 +1,2 @@
         1
        -2
        \ No newline at end of file
        +3
        \ No newline at end of file
        diff --git a/b.ts b/b.ts
        new file mode 100644
        --- /dev/null
        +++ b/b.ts
        @@ -0,0 +1,1 @@
        +new
        -- 
        2.47.3
        ");
    }
}
