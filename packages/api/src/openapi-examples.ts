// Example requests that a gateway accepts unchanged: the required fields, each with a valid value.

import type { TObject, TSchema } from 'typebox'
import { EVM } from './networks.ts'

const ZEROS = '0'.repeat(32)

/** Values by field name, for fields whose schema allows any text but only one form makes sense. */
const BY_NAME: Readonly<Record<string, unknown>> = {
  receipt_id: `rcpt_${ZEROS}`,
  locker_id: 'locker_000000000000',
  pay_req_id: `pr_${ZEROS}`,
  pay_req_ids: [`pr_${ZEROS}`],
  session_id: `us_${ZEROS}`,
  file_id: 'file_0',
  delegation_id: `dlg_${ZEROS}`,
  id: ZEROS + ZEROS,
  tx: `0x${ZEROS}${ZEROS}`,
  tx_sig: `0x${ZEROS}${ZEROS}`,
  network: EVM.caip2,
  asset: EVM.nativeAsset,
  payer: `0x${'0'.repeat(40)}`,
  // Four bytes in base64.
  transaction: 'AAAAAA==',
  token: 'TOKEN',
  filename: 'hello.txt',
  filenames: ['hello.txt'],
  // The public key of the seed of 32 zero bytes.
  pubkey: '4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS',
  wallet: '4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS',
  owner_identity: '4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS',
  source_url: 'https://example.com/hello.txt',
}

/** Optional in the schema because a request may name the same thing in another place, but shown in examples. */
const SUBJECT_FIELDS = ['receipt_id', 'locker_id', 'filename', 'filenames']

type Rules = Readonly<Record<string, unknown>>

function exampleOf(name: string, schema: TSchema): unknown {
  const { examples } = schema as { examples?: unknown[] }
  return examples?.[0] ?? BY_NAME[name] ?? byRules(name, schema as Rules)
}

/** The fields of an example: the required ones, and those that name the subject of the request. */
export function exampleFields({ properties, ...schema }: TObject): Rules {
  const required: readonly string[] = schema.required ?? []
  const entries = Object.entries(properties).filter(
    ([name]) => required.includes(name) || SUBJECT_FIELDS.includes(name),
  )
  return Object.fromEntries(entries.map(([name, field]) => [name, exampleOf(name, field as TSchema)]))
}

function byRules(name: string, rules: Rules): unknown {
  const { type, enum: words, const: fixed, anyOf, items, minimum = 1 } = rules
  if (fixed !== undefined) return fixed
  if (Array.isArray(words)) return words[0]
  if (Array.isArray(anyOf)) return exampleOf(name, anyOf[0])
  if (type === 'array') return [exampleOf('', items as TSchema)]
  if (type === 'object') return exampleFields(rules as unknown as TObject)
  if (type === 'boolean') return true
  return type === 'integer' || type === 'number' ? minimum : byPattern(String(rules.pattern ?? ''))
}

/** An example for each pattern of this interface: hex of a given length, hashes, amounts, times. */
function byPattern(pattern: string): string {
  const [, prefix = '', length] = /^\^(sha256:)?\[0-9a-f\]\{(\d+)\}\$$/.exec(pattern) ?? []
  if (length) return prefix + '0'.repeat(Number(length))
  if (pattern.startsWith('^(0|[1-9]')) return '1000000'
  return pattern.startsWith('^\\d{4}-') ? '2026-01-15T09:30:00Z' : 'text'
}
