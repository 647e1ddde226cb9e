//! SHA-256 digests of input files.

use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::io::{self, Read};

/// SHA-256 of a content, in hexadecimal.
pub fn sha256(content: &[u8]) -> String {
    hexadecimal(&Sha256::digest(content))
}

/// SHA-256 of several contents, each preceded by its length, in hexadecimal.
pub fn sha256_of_all<'a>(contents: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hasher = Sha256::new();
    for content in contents {
        hasher.update((content.len() as u64).to_le_bytes());
        hasher.update(content);
    }
    hexadecimal(&hasher.finalize())
}

/// SHA-256 as [`sha256_of_all`], of contents that are read from their starts; with their sizes.
///
/// # Errors
/// If a content cannot be read.
pub(crate) fn sha256_of_readers<R: Read>(
    contents: impl IntoIterator<Item = (u64, R)>,
) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut block = vec![0; 1 << 16];
    for (size, mut content) in contents {
        hasher.update(size.to_le_bytes());
        loop {
            match content.read(&mut block)? {
                0 => break,
                count => hasher.update(&block[..count]),
            }
        }
    }
    Ok(hexadecimal(&hasher.finalize()))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string does not fail");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-4: the digest of "abc".
    #[test]
    fn a_digest_is_that_of_the_standard() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), expected);
    }

    #[test]
    fn where_one_content_ends_counts() {
        let digest = |contents: [&str; 2]| sha256_of_all(contents.map(str::as_bytes));
        assert_ne!(digest(["ab", "c"]), digest(["a", "bc"]));
        let read = sha256_of_readers([(3, &b"abc"[..])]).expect("memory");
        assert_eq!(read, sha256_of_all([&b"abc"[..]]));
    }
}
