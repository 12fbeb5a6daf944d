//! Verifies a bundle's signature as `mcpb sign` writes it: after the archive come a marker, the length, a detached
//! PKCS#7 `SignedData` (RFC 5652 section 5, in DER) and another marker.
//!
//! A signature says that the bundle is what its signer made, and what the signer is called. Whether to believe that
//! name is for the person who installs it: anyone can make a certificate with any name.

use der::{
    Decode, Encode, Reader, SliceReader, Tag, TagNumber,
    asn1::{AnyRef, ObjectIdentifier},
};
use ring::signature::{self, UnparsedPublicKey, VerificationAlgorithm};
use sha2::{Digest, Sha256, Sha384, Sha512};
use x509_cert::{
    Certificate,
    ext::pkix::{SubjectKeyIdentifier, name::DirectoryString},
    name::Name,
};

use crate::model::caution::{Caution, CautionCode};

const START: &[u8] = b"MCPB_SIG_V1";
const END: &[u8] = b"MCPB_SIG_END";
/// The digits of a fingerprint that are shown.
const SHOWN: usize = 16;
/// The characters of a name that are shown.
const LONGEST_NAME: usize = 100;

/// The result of checking a bundle's signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signature {
    /// There is none.
    None,
    /// There is one that cannot be checked, and why.
    Unchecked(String),
    /// The bundle is what the signer signed.
    By(Signer),
    /// The bundle is not what the signer signed.
    Altered(Signer),
}

/// Who signed, as their certificate calls them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer {
    /// The common name, or another name where there is none.
    pub name: String,
    /// The authority that vouches for that name; `None` if self-signed.
    pub issuer: Option<String>,
    /// SHA-256 over the certificate, in hexadecimal.
    pub fingerprint: String,
}

impl Signature {
    /// For the person who is about to install it; nothing when there is nothing to say.
    pub fn caution(&self) -> Option<Caution> {
        match self {
            Self::None => None,
            Self::Unchecked(why) => Some(CautionCode::SignatureUnchecked.with([why])),
            Self::By(signer) => Some(signer.caution(CautionCode::SignedAlone, CautionCode::SignedWith)),
            Self::Altered(signer) => {
                Some(signer.caution(CautionCode::AlteredAlone, CautionCode::AlteredWith))
            }
        }
    }
}

impl Signer {
    /// `alone` if only the signer vouches for the name, `vouched` if somebody else does.
    fn caution(&self, alone: CautionCode, vouched: CautionCode) -> Caution {
        let print = &self.fingerprint[..SHOWN.min(self.fingerprint.len())];
        match &self.issuer {
            None => alone.with([self.name.as_str(), print]),
            Some(issuer) => vouched.with([self.name.as_str(), print, issuer]),
        }
    }
}

/// The archive alone, and who signed it.
pub(super) fn apart(bytes: &[u8]) -> (&[u8], Signature) {
    let Some(rest) = bytes.strip_suffix(END) else { return (bytes, Signature::None) };
    let Some(start) = rest.windows(START.len()).rposition(|window| window == START) else {
        return (bytes, Signature::None);
    };
    let (archive, block) = (&bytes[..start], &rest[start + START.len()..]);
    let signature = match block.split_first_chunk::<4>() {
        Some((length, signature)) if u32::from_le_bytes(*length) as usize == signature.len() => {
            read(signature, archive).unwrap_or_else(|why| Signature::Unchecked(why.to_string()))
        }
        _ => Signature::Unchecked(Unreadable::Length.to_string()),
    };
    (archive, signature)
}

/// Why a signature says nothing.
#[derive(Debug, thiserror::Error)]
enum Unreadable {
    #[error("its length is wrong")]
    Length,
    #[error("it is damaged ({0})")]
    Der(#[from] der::Error),
    #[error("it is incomplete: {0} is missing")]
    Missing(&'static str),
    #[error("its certificate was not issued by the issuer that it names")]
    Forged,
    #[error("it uses {0}, which Satchel does not support")]
    Unknown(String),
}

const SIGNED_DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.2");
const MESSAGE_DIGEST: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.4");

/// The parts of RFC 5652's `SignerInfo` that matter here.
struct SignerInfo<'a> {
    signer: AnyRef<'a>,
    digest: ObjectIdentifier,
    attributes: Option<AnyRef<'a>>,
    algorithm: ObjectIdentifier,
    signature: &'a [u8],
}

fn read(bytes: &[u8], archive: &[u8]) -> Result<Signature, Unreadable> {
    let outer = parts(AnyRef::from_der(bytes)?)?;
    let [kind, content] = outer.as_slice() else { return Err(Unreadable::Missing("its content")) };
    if kind.decode_as::<ObjectIdentifier>()? != SIGNED_DATA {
        return Err(Unreadable::Missing("the signed data"));
    }
    let signed = parts(AnyRef::from_der(content.value())?)?;
    let certificates = certificates(&signed)?;
    let signers = signed.last().filter(|last| last.header().tag() == Tag::Set);
    let first = parts(*signers.ok_or(Unreadable::Missing("its signer"))?)?;
    let info = SignerInfo::read(*first.first().ok_or(Unreadable::Missing("its signer"))?)?;
    let certificate = certificates
        .iter()
        .find(|certificate| info.is_by(certificate))
        .ok_or(Unreadable::Missing("the signer's certificate"))?;
    // The issuer's own, where it is there; a certificate that names itself always is.
    let issuer = certificate.tbs_certificate().issuer();
    if let Some(issuer) = certificates.iter().find(|other| other.tbs_certificate().subject() == issuer)
        && !is_issued(certificate, issuer)?
    {
        return Err(Unreadable::Forged);
    }
    let signer = Signer::of(certificate)?;
    Ok(if info.holds(certificate, archive)? { Signature::By(signer) } else { Signature::Altered(signer) })
}

/// What a sequence or a set consists of. Its own order is kept: a set that is not sorted, as widespread tools write it,
/// was signed as it stands.
fn parts(whole: AnyRef<'_>) -> der::Result<Vec<AnyRef<'_>>> {
    let mut reader = SliceReader::new(whole.value())?;
    let mut parts = Vec::new();
    while !reader.is_finished() {
        parts.push(AnyRef::decode(&mut reader)?);
    }
    Ok(parts)
}

fn is_field(part: &AnyRef<'_>, number: u32) -> bool {
    part.header().tag() == Tag::ContextSpecific { constructed: true, number: TagNumber(number) }
}

fn certificates(signed: &[AnyRef<'_>]) -> Result<Vec<Certificate>, Unreadable> {
    let Some(all) = signed.iter().find(|part| is_field(part, 0)) else {
        return Err(Unreadable::Missing("a certificate"));
    };
    // Kinds of certificates that nobody uses any more have tags of their own.
    let plain = parts(*all)?.into_iter().filter(|part| part.header().tag() == Tag::Sequence);
    Ok(plain.map(|part| Certificate::from_der(&part.to_der()?)).collect::<Result<_, _>>()?)
}

impl<'a> SignerInfo<'a> {
    fn read(whole: AnyRef<'a>) -> Result<Self, Unreadable> {
        let mut parts = parts(whole)?.into_iter().skip(1).peekable();
        let mut next = |what| parts.next().ok_or(Unreadable::Missing(what));
        let signer = next("who signed")?;
        let digest = algorithm(next("how it was condensed")?)?;
        let mut after = next("how it was signed")?;
        let attributes = is_field(&after, 0).then_some(after);
        if attributes.is_some() {
            after = next("how it was signed")?;
        }
        let signature = next("the signature itself")?;
        signature.header().tag().assert_eq(Tag::OctetString)?;
        Ok(Self { signer, digest, attributes, algorithm: algorithm(after)?, signature: signature.value() })
    }

    /// The signer is told by issuer and serial number of their certificate, or by the identifier of its key.
    fn is_by(&self, certificate: &Certificate) -> bool {
        let own = certificate.tbs_certificate();
        if self.signer.header().tag() != Tag::Sequence {
            let key = own.get_extension::<SubjectKeyIdentifier>().ok().flatten();
            return key.is_some_and(|(_, key)| key.0.as_bytes() == self.signer.value());
        }
        let Ok(parts) = parts(self.signer) else { return false };
        let [issuer, serial] = parts.as_slice() else { return false };
        let same_issuer = issuer.to_der().is_ok_and(|der| own.issuer().to_der().is_ok_and(|own| own == der));
        same_issuer && serial.value() == own.serial_number().as_bytes()
    }

    fn holds(&self, certificate: &Certificate, archive: &[u8]) -> Result<bool, Unreadable> {
        let verified =
            |message: &[u8]| verified(certificate, self.algorithm, self.digest, message, self.signature);
        let Some(attributes) = self.attributes else { return verified(archive) };
        let mut digests = Vec::new();
        for attribute in parts(attributes)? {
            if let [kind, values] = parts(attribute)?.as_slice()
                && kind.decode_as::<ObjectIdentifier>()? == MESSAGE_DIGEST
            {
                digests.extend(parts(*values)?.into_iter().map(AnyRef::value));
            }
        }
        // Signed is the set under its own tag, not under the field's (RFC 5652 section 5.4).
        let set = AnyRef::new(Tag::Set, attributes.value())?.to_der()?;
        Ok(verified(&set)? && digests == [condensed(self.digest, archive)?])
    }
}

/// Whether a signature was made with the key that a certificate is for.
fn verified(
    certificate: &Certificate,
    algorithm: ObjectIdentifier,
    digest: ObjectIdentifier,
    message: &[u8],
    signature: &[u8],
) -> Result<bool, Unreadable> {
    let key = certificate.tbs_certificate().subject_public_key_info();
    let raw = key.subject_public_key.raw_bytes();
    let verifier = verifier(key.algorithm.oid, raw.len(), algorithm, digest)?;
    Ok(UnparsedPublicKey::new(verifier, raw).verify(message, signature).is_ok())
}

/// Whether a certificate carries the signature of another, which may be itself.
fn is_issued(certificate: &Certificate, by: &Certificate) -> Result<bool, Unreadable> {
    let algorithm = certificate.signature_algorithm().oid;
    let message = certificate.tbs_certificate().to_der()?;
    verified(by, algorithm, algorithm, &message, certificate.signature().raw_bytes())
}

fn algorithm(part: AnyRef<'_>) -> Result<ObjectIdentifier, Unreadable> {
    let parts = parts(part)?;
    Ok(parts.first().ok_or(Unreadable::Missing("the name of an algorithm"))?.decode_as()?)
}

const SHA_256: &str = "2.16.840.1.101.3.4.2.1";
const SHA_384: &str = "2.16.840.1.101.3.4.2.2";
const SHA_512: &str = "2.16.840.1.101.3.4.2.3";

fn condensed(digest: ObjectIdentifier, archive: &[u8]) -> Result<Vec<u8>, Unreadable> {
    match digest.to_string().as_str() {
        SHA_256 => Ok(Sha256::digest(archive).to_vec()),
        SHA_384 => Ok(Sha384::digest(archive).to_vec()),
        SHA_512 => Ok(Sha512::digest(archive).to_vec()),
        other => Err(Unreadable::Unknown(format!("the digest {other}"))),
    }
}

/// By the kind and size of the key, and by the digest: either the signature's algorithm names it, or it stands alone.
fn verifier(
    key: ObjectIdentifier,
    length: usize,
    algorithm: ObjectIdentifier,
    digest: ObjectIdentifier,
) -> Result<&'static dyn VerificationAlgorithm, Unreadable> {
    /// An uncompressed point of P-256: a byte and two coordinates.
    const P_256: usize = 65;
    let (key, named, digest) = (key.to_string(), algorithm.to_string(), digest.to_string());
    let digest = match named.as_str() {
        // sha256WithRSAEncryption and ecdsa-with-SHA256, and so on.
        "1.2.840.113549.1.1.11" | "1.2.840.10045.4.3.2" => SHA_256,
        "1.2.840.113549.1.1.12" | "1.2.840.10045.4.3.3" => SHA_384,
        "1.2.840.113549.1.1.13" | "1.2.840.10045.4.3.4" => SHA_512,
        _ => digest.as_str(),
    };
    match (key.as_str(), digest) {
        ("1.2.840.113549.1.1.1", SHA_256) => Ok(&signature::RSA_PKCS1_2048_8192_SHA256),
        ("1.2.840.113549.1.1.1", SHA_384) => Ok(&signature::RSA_PKCS1_2048_8192_SHA384),
        ("1.2.840.113549.1.1.1", SHA_512) => Ok(&signature::RSA_PKCS1_2048_8192_SHA512),
        ("1.2.840.10045.2.1", SHA_256) if length == P_256 => Ok(&signature::ECDSA_P256_SHA256_ASN1),
        ("1.2.840.10045.2.1", SHA_384) if length == P_256 => Ok(&signature::ECDSA_P256_SHA384_ASN1),
        ("1.2.840.10045.2.1", SHA_256) => Ok(&signature::ECDSA_P384_SHA256_ASN1),
        ("1.2.840.10045.2.1", SHA_384) => Ok(&signature::ECDSA_P384_SHA384_ASN1),
        ("1.3.101.112", _) => Ok(&signature::ED25519),
        _ => Err(Unreadable::Unknown(format!("the algorithm {named} and the digest {digest}"))),
    }
}

impl Signer {
    fn of(certificate: &Certificate) -> Result<Self, Unreadable> {
        let own = certificate.tbs_certificate();
        let issuer = (own.issuer() != own.subject()).then(|| called(own.issuer()));
        let fingerprint = Sha256::digest(certificate.to_der()?);
        let fingerprint = fingerprint.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { name: called(own.subject()), issuer, fingerprint })
    }
}

/// A stranger wrote it: nothing in it may move a cursor, hide, or end a quotation.
fn called(name: &Name) -> String {
    let text = |field: der::Result<Option<DirectoryString>>| field.ok().flatten().map(String::from);
    let found = text(name.common_name()).or_else(|| text(name.organization()));
    let whole = found.unwrap_or_else(|| name.to_string());
    let plain = |c: &char| c.is_alphanumeric() || " .,:;'&-_()@/+".contains(*c);
    whole.chars().filter(plain).take(LONGEST_NAME).collect()
}
