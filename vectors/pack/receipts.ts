// Receipts beside bundles.

import { bundleOf, bundleV1, changed, ISSUED_AT, PROOF_ID, redactedOf } from './bundles.ts'
import { type Case, type Facts, type GivenInPack, OF_V1, PINNED, UNSIGNED } from './case.ts'
import { canonical, isoSeconds, type Json, type JsonObject, sha256 } from './formats.ts'
import { DAY, endorsement, revocation } from './key-changes.ts'
import { listedKey, type PackKey, RETIRED_KEY, STATEMENT_KEY, STRANGER_KEY, signingKeys } from './keys.ts'

const TEN_MINUTES = 600
const QUOTE = 'pr_00112233445566778899aabbccddeeff'
const PRIMARY_TX = '2Ana1pUpv2ZbMVkwF5FXapYeBEjdxDatLn7nvJkhgTSXbs59SyZSx866bXirPgj8QQVB57uxHJBG1YFvkRbFj4T'
const EVM_TX = `0x${'ab'.repeat(32)}`

function receiptIdOf(tx: string): string {
  return `rcpt_${sha256(`svc/receipt-id/v1|${QUOTE}|${tx}`).slice(0, 32)}`
}

const FIELDS: JsonObject = {
  receipt_id: receiptIdOf(PRIMARY_TX),
  pay_req_id: QUOTE,
  proof_id: PROOF_ID,
  paid_amount: '0.75',
  paid_raw: '750000',
  pay_asset: 'USDC',
  network: 'primary-mainnet',
  slot: 123456789,
  sig_alg: 'ed25519',
  tx_hash: PRIMARY_TX,
  payer_pubkey: 'FQnm7VnmFawD9Dtb4yCexQjERoZ9LkdzAYijzK5tzQEe',
  units: 3,
  confirmed_at: isoSeconds(ISSUED_AT),
}
const { slot: _, ...ANY_CHAIN } = FIELDS
const EVM_FIELDS: JsonObject = {
  ...ANY_CHAIN,
  receipt_id: receiptIdOf(EVM_TX),
  network: 'evm-mainnet',
  block_number: 7,
  sig_alg: 'secp256k1',
  tx_hash: EVM_TX,
  payer_pubkey: '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf',
}

/** A receipt with its signature over the fields as they are here. */
function signed(fields: JsonObject, key: PackKey = STATEMENT_KEY): JsonObject {
  const digest = Buffer.from(sha256(canonical(fields)), 'hex')
  const receipt_sig = key.sign(Buffer.concat([Buffer.from('SVC_RECEIPT_V1\0'), digest]))
  return { ...fields, result_hash: '', receipt_sig, receipt_signer_pubkey: key.hex }
}

const GOOD = signed(FIELDS)
const GOOD_TEXT = JSON.stringify(GOOD)
const BUNDLE = changed(bundleOf(), 'receipt_id', FIELDS.receipt_id as string)

const ALL: Facts = {
  receipt_signature_valid: 'passed',
  receipt_id_matches: 'passed',
  receipt_key_pinned: 'passed',
  receipt_is_of_bundle: 'passed',
}
const FORGED: Facts = { receipt_signature_valid: 'failed', receipt_is_of_bundle: 'not_checked' }

interface More {
  given?: GivenInPack
  document?: JsonObject
}

function beside(name: string, what: string, receipt: JsonObject | string, expect: Facts, more: More = {}): Case {
  const { given = PINNED, document } = more
  const text = typeof receipt === 'string' ? receipt : JSON.stringify(receipt)
  const bundle = document ? { document } : { of: 'receipt' }
  return { name: `receipt-${name}`, what, ...bundle, given: { ...given, receipt: text }, expect: { ...ALL, ...expect } }
}

/** Changed after it was signed. */
function altered(field: string, value: Json | undefined, expect: Facts = {}, name = field): Case {
  const what = `${field} ${value === undefined ? 'was removed' : 'is another'} than was signed`
  return beside(`altered-${name}`, what, changed(GOOD, field, value), { ...FORGED, ...expect })
}

const OTHER_ID: Facts = { receipt_id_matches: 'failed' }
const OTHER_BUNDLE: Facts = { receipt_is_of_bundle: 'failed' }
const UNLINKED: Facts = { receipt_is_of_bundle: 'not_checked' }
const NOT_PINNED: Facts = { receipt_key_pinned: 'failed' }

const ALTERED: Case[] = [
  altered('receipt_id', receiptIdOf(EVM_TX), { ...OTHER_ID, ...OTHER_BUNDLE }),
  altered('pay_req_id', 'pr_00112233445566778899aabbccddeefe', OTHER_ID),
  altered('tx_hash', EVM_TX, OTHER_ID),
  altered('proof_id', '0f'.repeat(16), OTHER_BUNDLE),
  altered('proof_id', undefined, {}, 'proof_id-removed'),
  altered('paid_amount', '75'),
  altered('paid_raw', '750001'),
  altered('pay_asset', 'SOL'),
  altered('network', 'primary-devnet'),
  altered('slot', 123456780),
  altered('slot', undefined, {}, 'slot-removed'),
  altered('sig_alg', 'secp256k1'),
  altered('payer_pubkey', STRANGER_KEY.base58),
  altered('units', 30),
  altered('units', '3', {}, 'units-text'),
  altered('confirmed_at', isoSeconds(ISSUED_AT + 1)),
  altered('block_number', null, {}, 'null-added'),
  altered('receipt_sig', `0${GOOD.receipt_sig}`.slice(0, 128)),
  altered('receipt_sig', String(GOOD.receipt_sig).toUpperCase(), {}, 'sig-upper-case'),
  altered('receipt_sig', '', {}, 'sig-empty'),
  altered('receipt_signer_pubkey', STRANGER_KEY.hex, NOT_PINNED),
  altered('receipt_signer_pubkey', 'statement', NOT_PINNED, 'signer-no-key'),
]

const FORMS: Case[] = [
  {
    name: 'receipt',
    what: 'the receipt of the bundle, paid on the primary chain',
    document: BUNDLE,
    given: { ...PINNED, receipt: GOOD_TEXT },
    expect: ALL,
  },
  beside(
    'evm',
    'the receipt of the bundle, paid on the EVM chain',
    signed(EVM_FIELDS),
    {},
    {
      document: changed(bundleOf(), 'receipt_id', EVM_FIELDS.receipt_id as string),
    },
  ),
  beside('pretty', 'white space, escapes, and fields in another order', pretty(GOOD), {}),
  beside('result-hash', 'result_hash is not signed', changed(GOOD, 'result_hash', `sha256:${sha256('other')}`), {}),
  beside('result-hash-number', 'result_hash may be anything', changed(GOOD, 'result_hash', 1.5), {}),
  beside(
    'more-signed',
    'unknown fields are signed too',
    signed({ ...FIELDS, extends: null, later: { é: [true] } }),
    {},
  ),
  beside('units-1.0', 'units as 3.0, which is the same number', GOOD_TEXT.replace('"units":3', '"units":3.0'), {}),
  beside('fraction', 'a fraction has no canonical form', signed({ ...FIELDS, units: 1.5 }), FORGED),
  beside('large-number', 'neither has an integer of 2^53', signed({ ...FIELDS, slot: 2 ** 53 }), FORGED),
  beside('lone-surrogate', 'nor half a character', signed({ ...FIELDS, pay_asset: '\ud800' }), FORGED),
  beside('largest', 'a receipt of 65,536 bytes', GOOD_TEXT.padEnd(65_536), {}),
]

/** Signed by the statement key under an id that is not derived, which the bundle names too. */
function underId(name: string, what: string, fields: JsonObject, expect: Facts): Case {
  const document = changed(bundleOf(), 'receipt_id', fields.receipt_id as string)
  return beside(`id-${name}`, what, signed(fields), expect, { document })
}

const lowered = PRIMARY_TX.toLowerCase()
const upperHash = EVM_TX.slice(2).toUpperCase()
const IDS: Case[] = [
  underId('other', 'signed with an id that is not derived', { ...FIELDS, receipt_id: 'rcpt_test_0001' }, OTHER_ID),
  underId('evm-upper', 'an EVM hash in upper case', { ...EVM_FIELDS, tx_hash: `0x${upperHash}` }, {}),
  underId('evm-0X', 'an EVM hash that begins with 0X', { ...EVM_FIELDS, tx_hash: `0X${upperHash}` }, {}),
  underId(
    'primary-lower',
    'the id is that of the transaction in lower case, on the primary chain',
    { ...FIELDS, receipt_id: receiptIdOf(lowered) },
    OTHER_ID,
  ),
  underId('of-upper', 'the id is that of an EVM hash in upper case', upperId(), OTHER_ID),
]

function upperId(): JsonObject {
  const tx_hash = `0x${upperHash}`
  return { ...EVM_FIELDS, tx_hash, receipt_id: receiptIdOf(tx_hash) }
}

const keysFor = (...entries: JsonObject[]): More => ({ given: { pinned_keys: signingKeys(...entries) } })
const forStatements = listedKey(STATEMENT_KEY, 'evidence-envelope')
const untilIn = (seconds: number) => {
  const valid_to = isoSeconds(ISSUED_AT + seconds)
  return keysFor(forStatements, listedKey(STATEMENT_KEY, 'receipt', { valid_to }))
}
const twoPinned = { given: { pinned_keys: [STATEMENT_KEY.hex, RETIRED_KEY.hex] } }
const bothUses = ['receipt', 'evidence-envelope'].map((use) => listedKey(RETIRED_KEY, use))
const withChanges = (changes: JsonObject): More => ({
  given: { pinned_keys: { ...signingKeys(...bothUses), ...changes } },
})
const dateless = signed(changed(FIELDS, 'confirmed_at', undefined))

const KEYS: Case[] = [
  beside(
    'not-pinned',
    'no key is pinned',
    GOOD,
    { key_pinned: 'not_checked', receipt_key_pinned: 'not_checked' },
    {
      given: {},
    },
  ),
  beside(
    'stranger-not-pinned',
    'no key is pinned, and two keys signed',
    signed(FIELDS, STRANGER_KEY),
    { key_pinned: 'not_checked', receipt_key_pinned: 'not_checked', ...UNLINKED },
    { given: {} },
  ),
  beside('stranger', 'signed by a stranger', signed(FIELDS, STRANGER_KEY), { ...NOT_PINNED, ...UNLINKED }),
  beside(
    'signature-of-other',
    'names the pinned key, and another one signed',
    changed(signed(FIELDS, STRANGER_KEY), 'receipt_signer_pubkey', STATEMENT_KEY.hex),
    FORGED,
  ),
  beside('two-keys', 'another pinned key signed than the statement', signed(FIELDS, RETIRED_KEY), {}, twoPinned),
  beside(
    'key-of-receipts',
    'one pinned key for receipts, one for statements',
    signed(FIELDS, RETIRED_KEY),
    {},
    keysFor(forStatements, listedKey(RETIRED_KEY, 'receipt')),
  ),
  beside(
    'key-for-receipts-only',
    'the key is pinned for receipts alone',
    GOOD,
    { key_pinned: 'failed' },
    keysFor(listedKey(STATEMENT_KEY, 'receipt')),
  ),
  beside('key-for-statements-only', 'the key is pinned for statements alone', GOOD, NOT_PINNED, keysFor(forStatements)),
  beside('key-expired', 'the key had ended a day before', GOOD, NOT_PINNED, untilIn(-DAY)),
  beside('key-end-600', 'the key had ended ten minutes before', GOOD, {}, untilIn(-TEN_MINUTES)),
  beside('key-end-601', 'the key had ended a second earlier', GOOD, NOT_PINNED, untilIn(-TEN_MINUTES - 1)),
  beside('no-time', 'no confirmed_at, and a key without period', dateless, {}),
  beside('no-time-in-period', 'no confirmed_at, and a key with a period', dateless, NOT_PINNED, untilIn(DAY)),
  beside(
    'key-endorsed',
    'the pinned key endorses the one that signed',
    GOOD,
    {},
    withChanges({ endorsements: [endorsement(RETIRED_KEY, STATEMENT_KEY)] }),
  ),
  beside(
    'key-revoked',
    'the key revoked itself, later than the receipt',
    signed(FIELDS, RETIRED_KEY),
    { ...NOT_PINNED, ...UNLINKED },
    {
      given: {
        pinned_keys: {
          ...signingKeys(forStatements, ...bothUses),
          revocations: [revocation(RETIRED_KEY, RETIRED_KEY, ISSUED_AT + DAY)],
        },
      },
    },
  ),
]

const v1 = changed(bundleV1(), 'receipt_id', FIELDS.receipt_id as string)
const unnamed = redactedOf(null)
const CHOSEN: Facts = {
  inclusion_proven: 'passed',
  merkle_root_matches: 'not_checked',
  envelope_binds_commitment: 'not_checked',
}
const NO_NAMES: Facts = { inclusion_proven: 'not_checked', envelope_binds_commitment: 'not_checked' }

const BUNDLES: Case[] = [
  beside('of-other-bundle', 'the bundle names another receipt', GOOD, OTHER_BUNDLE, { document: bundleOf() }),
  beside(
    'of-other-proof',
    'the statement is of another proof',
    signed({ ...FIELDS, proof_id: '0f'.repeat(16) }),
    OTHER_BUNDLE,
  ),
  beside(
    'bundle-without-id',
    'the bundle names no receipt',
    GOOD,
    {},
    { document: changed(BUNDLE, 'receipt_id', null) },
  ),
  beside('bundle-id-number', 'its receipt_id is no text', GOOD, {}, { document: changed(BUNDLE, 'receipt_id', 7) }),
  beside('older', 'an older receipt without proof_id', signed(changed(FIELDS, 'proof_id', undefined)), UNLINKED),
  beside('proof-null', 'a receipt whose proof_id is null', signed({ ...FIELDS, proof_id: null }), UNLINKED),
  beside('proof-list', 'its proof_id is a list', signed({ ...FIELDS, proof_id: [PROOF_ID] }), OTHER_BUNDLE),
  beside(
    'of-forged',
    'the signature of the statement is invalid',
    GOOD,
    { ...UNSIGNED, ...UNLINKED },
    {
      document: changed(BUNDLE, 'envelope.signature', '0'.repeat(128)),
    },
  ),
  beside(
    'of-malformed',
    'the statement is malformed',
    signed({ ...FIELDS, proof_id: '0f'.repeat(16) }),
    { envelope_binds_commitment: 'failed', ...UNLINKED },
    {
      document: changed(
        bundleOf({ alter: (body) => (body.policy_version = 2) }),
        'receipt_id',
        GOOD.receipt_id as string,
      ),
    },
  ),
  beside('of-v1', 'version 1 has no statement', GOOD, { ...OF_V1, ...UNLINKED }, { document: v1 }),
  beside(
    'of-v1-other',
    'version 1 names another receipt',
    GOOD,
    { ...OF_V1, ...OTHER_BUNDLE },
    { document: bundleV1() },
  ),
  beside('of-redacted', 'a redacted bundle names no receipt', GOOD, CHOSEN, { document: redactedOf(['readme.txt']) }),
  beside('of-no-names', 'a redacted bundle without names', GOOD, NO_NAMES, { document: unnamed }),
  beside('of-redacted-named', 'a redacted bundle with a receipt_id, which is not read', GOOD, NO_NAMES, {
    document: { ...unnamed, receipt_id: 'rcpt_test_0001' },
  }),
]

function refused(name: string, what: string, receipt: string): Case {
  return {
    name: `receipt-${name}`,
    of: 'receipt',
    what,
    given: { ...PINNED, receipt },
    expect: { refused: 'not_a_receipt' },
  }
}

const textOf = (field: string, value: Json | undefined) => JSON.stringify(changed(GOOD, field, value))

const REFUSED: Case[] = [
  ...['receipt_id', 'pay_req_id', 'tx_hash', 'receipt_sig', 'receipt_signer_pubkey'].flatMap((field) => [
    refused(`no-${field}`, `${field} is missing`, textOf(field, undefined)),
    refused(`number-${field}`, `${field} is a number`, textOf(field, 7)),
  ]),
  refused('text-surrogate', 'half a character in pay_req_id', textOf('pay_req_id', '\ud800')),
  refused('text-huge-number', 'a number beyond a double', GOOD_TEXT.replace('"units":3', '"units":1e400')),
  refused('text-key-twice', 'a key twice', GOOD_TEXT.replace('{', '{"units":3,')),
  refused('text-empty', 'no text', ''),
  refused('text-not-json', 'not JSON', 'receipt_id=1'),
  refused('text-null', 'null', 'null'),
  refused('text-list', 'a list', `[${GOOD_TEXT}]`),
  refused('text-byte-order-mark', 'a byte order mark', `\ufeff${GOOD_TEXT}`),
  refused('text-deep', '33 levels', GOOD_TEXT.replace('{', `{"x":${'['.repeat(32)}${']'.repeat(32)},`)),
  refused('text-large', '65,537 bytes', GOOD_TEXT.padEnd(65_537)),
  {
    name: 'receipt-of-refused',
    what: 'neither is the bundle one',
    document: 'x',
    given: { ...PINNED, receipt: '{}' },
    expect: { refused: 'not_a_receipt' },
  },
  {
    name: 'receipt-of-unknown',
    what: 'a good receipt, and a bundle of another version',
    document: changed(BUNDLE, 'bundle_version', 3),
    given: { ...PINNED, receipt: GOOD_TEXT },
    expect: { refused: 'unsupported_version' },
  },
]

function pretty(receipt: JsonObject): string {
  const reversed = Object.fromEntries(Object.entries(receipt).toReversed())
  return `\n${JSON.stringify(reversed, null, 2).replace('"units"', '"\\u0075nits"')}\r\n`
}

export const RECEIPTS: Case[] = [...FORMS, ...ALTERED, ...IDS, ...KEYS, ...BUNDLES, ...REFUSED]
