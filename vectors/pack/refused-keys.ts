// Lists of pinned keys that a verifier refuses, whatever the bundle is.

import { ISSUED_AT } from './bundles.ts'
import { isoSeconds, type Json, type JsonObject } from './formats.ts'
import { listedKey, RECOVERY_KEY, STATEMENT_KEY, signingKeys } from './keys.ts'

const entry = listedKey(STATEMENT_KEY, 'evidence-envelope')
const withEntry = (change: JsonObject) => signingKeys({ ...entry, ...change })
const withField = (change: JsonObject) => ({ ...signingKeys(entry), ...change })

export const REFUSED_KEYS: { what: string; list: Json }[] = [
  { what: 'no key', list: signingKeys() },
  { what: 'no list of keys', list: { schema: 'svc/signing-keys/v1' } },
  { what: 'another schema', list: withField({ schema: 'svc/signing-keys/v2' }) },
  { what: 'an entry that is no object', list: withField({ keys: [entry, STATEMENT_KEY.hex] }) },
  { what: 'another algorithm', list: withEntry({ alg: 'p256' }) },
  { what: 'a use that is no text', list: withEntry({ use: null }) },
  { what: 'an unknown status', list: withEntry({ status: 'compromised' }) },
  { what: 'the id of another key', list: withEntry({ key_id: RECOVERY_KEY.id }) },
  { what: 'a key of small order', list: withEntry({ public_key_hex: `01${'00'.repeat(31)}` }) },
  { what: 'an end that is no text', list: withEntry({ valid_to: ISSUED_AT }) },
  { what: 'a beginning on a day that does not exist', list: withEntry({ valid_from: '2026-02-30T00:00:00Z' }) },
  { what: 'an end in hour 24', list: withEntry({ valid_to: isoSeconds(ISSUED_AT).replace('T00:', 'T24:') }) },
  { what: 'a text as recovery key', list: withField({ recovery: RECOVERY_KEY.hex }) },
  { what: 'a recovery key without the key', list: withField({ recovery: { key_id: RECOVERY_KEY.id } }) },
  { what: 'an object as logs', list: withField({ logs: {} }) },
  { what: 'a log without its key', list: withField({ logs: [{ url: 'https://log.example' }] }) },
]
