// Policies: the known logs and witnesses, and how many witnesses are enough (C2SP tlog-policy).

import { equalBytes } from '../bytes.ts'
import { type Checkpoint, type Cosignature, cosignaturesOf } from './checkpoint.ts'
import { isSignedBy, type KeyType, type NoteKey, readKey } from './note.ts'

export interface Policy {
  logs: { key: NoteKey; url: string | null }[]
  witnesses: PolicyWitness[]
  quorum: Rule
}

export interface PolicyWitness {
  /** The name within the policy. */
  name: string
  key: NoteKey
  url: string | null
}

/** Null: no witness is needed. */
type Rule = PolicyWitness | Group | null

interface Group {
  threshold: number
  members: Exclude<Rule, null>[]
}

/** More than any real policy needs. */
const MAX_NAMES = 256
const NONE = 'none'

/** The policy, or its problem with the line. */
export function readPolicy(text: string): Policy | string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this finds control characters
  if (/[\u0000-\u0008\u000b-\u001f\u007f]/.test(text)) return 'the policy has a control character'
  const policy: Omit<Policy, 'quorum'> = { logs: [], witnesses: [] }
  const named = new Map<string, Exclude<Rule, null>>()
  const members = new Set<string>()
  let quorum: Rule | undefined

  function readLine(words: readonly string[]): string | null {
    const [keyword, ...rest] = words
    if (keyword === 'log') return readLog(rest)
    if (keyword === 'witness') return readWitness(rest)
    if (keyword === 'group') return readGroup(rest)
    if (keyword === 'quorum') return readQuorum(rest)
    return 'a line must begin with log, witness, group or quorum'
  }

  function readLog([encoded, url, ...rest]: readonly string[]): string | null {
    const key = keyOf(encoded, 'log')
    if (typeof key === 'string') return key
    if (rest.length > 0) return 'a log has a key and optionally an address, and nothing else'
    if (policy.logs.some((other) => equalBytes(other.key.publicKey, key.publicKey))) return 'the log is named twice'
    policy.logs.push({ key, url: url ?? null })
    return null
  }

  function readWitness([name, encoded, url, ...rest]: readonly string[]): string | null {
    const key = keyOf(encoded, 'cosigner')
    if (typeof key === 'string') return key
    if (rest.length > 0) return 'a witness has a name, a key and optionally an address, and nothing else'
    if (policy.witnesses.some((other) => equalBytes(other.key.publicKey, key.publicKey)))
      return 'the witness is named twice'
    const witness = { name: name!, key, url: url ?? null }
    const problem = define(name!, witness)
    if (problem === null) policy.witnesses.push(witness)
    return problem
  }

  function readGroup([name, threshold, ...names]: readonly string[]): string | null {
    if (name === undefined || names.length === 0) return 'a group must have a name, a number and members'
    const found = names.map((member) => named.get(member))
    const unknown = names.find((_, i) => !found[i])
    if (unknown !== undefined) return `${unknown} is not defined above`
    const duplicate = names.find((member, i) => members.has(member) || names.indexOf(member) !== i)
    if (duplicate !== undefined) return `${duplicate} is already a member of a group`
    const count = thresholdOf(threshold!, names.length)
    if (count === null) return `a group needs all, any, or 1 to ${names.length} of its members`
    const problem = define(name, { threshold: count, members: found as Group['members'] })
    if (problem === null) for (const member of names) members.add(member)
    return problem
  }

  function readQuorum([name, ...rest]: readonly string[]): string | null {
    if (quorum !== undefined) return 'there must be only one quorum'
    if (name === undefined || rest.length > 0) return 'a quorum must have one name'
    const rule = name === NONE ? null : named.get(name)
    if (rule === undefined) return `${name} is not defined above`
    quorum = rule
    return null
  }

  function define(name: string, rule: Exclude<Rule, null>): string | null {
    if (name === NONE || named.has(name)) return `the name ${name} is taken`
    if (named.size >= MAX_NAMES) return `a policy has at most ${MAX_NAMES} witnesses and groups`
    named.set(name, rule)
    return null
  }

  for (const [i, line] of text.split('\n').entries()) {
    const words = line.split(/[ \t]+/).filter((word) => word !== '')
    if (words.length === 0 || words[0]!.startsWith('#')) continue
    const problem = readLine(words)
    if (problem !== null) return `line ${i + 1}: ${problem}`
  }
  return quorum === undefined ? 'the policy names no quorum' : { ...policy, quorum }
}

function keyOf(encoded: string | undefined, type: KeyType): NoteKey | string {
  if (encoded === undefined) return 'there is no key'
  const key = readKey(encoded)
  if (typeof key === 'string' || key.type === type) return key
  return type === 'log' ? 'this is the key of a witness' : 'this is not the key of a witness'
}

function thresholdOf(text: string, count: number): number | null {
  if (text === 'all') return count
  if (text === 'any') return 1
  const threshold = /^[1-9]\d*$/.test(text) ? Number(text) : 0
  return threshold >= 1 && threshold <= count ? threshold : null
}

export interface Judgement {
  /** The log of the policy that signed the checkpoint. Null if none did. */
  log: NoteKey | null
  /** The valid cosignatures by witnesses of the policy. */
  cosignatures: Cosignature[]
  /** Whether the cosignatures satisfy the policy. */
  isQuorum: boolean
}

export function judge(policy: Policy, checkpoint: Checkpoint): Judgement {
  const { origin, note } = checkpoint
  const log = policy.logs.find(({ key }) => key.name === origin && isSignedBy(note, key))
  const cosignatures = cosignaturesOf(
    checkpoint,
    policy.witnesses.map(({ key }) => key),
  )
  const vouching = new Set(cosignatures.map(({ key }) => key))
  return { log: log?.key ?? null, cosignatures, isQuorum: isMet(policy.quorum, vouching) }
}

function isMet(rule: Rule, vouching: ReadonlySet<NoteKey>): boolean {
  if (rule === null) return true
  if ('key' in rule) return vouching.has(rule.key)
  return rule.members.filter((member) => isMet(member, vouching)).length >= rule.threshold
}
