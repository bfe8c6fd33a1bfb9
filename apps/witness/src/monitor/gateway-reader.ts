// Reads a gateway's claims about its log, at the address next to the log's: statements, keys and anchors. They are
// unverified claims until they are checked.

import type { Json } from '@svc/protocol/canonical'
import { parseStrictJson } from '@svc/protocol/strict-json'
import { isObject, type JsonObject } from '@svc/verifier/untrusted'
import { type BoundedGet, textOf, Unreadable } from './bounded-get.ts'

/** The gateway's data about an entry of the log. */
export interface ShownStatement {
  digest: string
  /** Null when the gateway no longer has it. */
  envelope: JsonObject | null
  anchor: JsonObject | null
}

export interface GatewayReader {
  /** Whether the gateway has this log and reports it as empty. */
  hasEmptyLog(origin: string): Promise<boolean>
  /** By index. Statements that the gateway does not show are absent. */
  statements(from: number, count: number): Promise<Map<number, ShownStatement>>
  /** The list of its signing keys. */
  keys(): Promise<string>
  domainTag(): Promise<string>
  /** The anchors of checkpoints, newest first. */
  anchors(): Promise<JsonObject[]>
}

/** Enough for 256 statements with their anchors. */
const MAX_BYTES = 4 * 1024 * 1024
const MAX_VALUES = 200_000
/** The limit for requests per page of statements, however few each response contains. */
const MAX_REQUESTS = 16
const ANCHORS = 10

export function createGatewayReader(logUrl: string, get: BoundedGet): GatewayReader {
  async function fetchText(path: string): Promise<string | null> {
    const bytes = await get(new URL(path, logUrl).href, MAX_BYTES)
    return bytes && textOf(bytes)
  }

  async function fetchObject(path: string): Promise<JsonObject | null> {
    const text = await fetchText(path)
    if (text === null) return null
    const value = parsed(text)
    if (!isObject(value)) throw new Unreadable(`${path} of the gateway is not a JSON object`)
    return value
  }

  return {
    async hasEmptyLog(origin) {
      const log = await fetchObject('v1/log')
      return log?.origin === origin && log.size === 0
    },

    async statements(from, count) {
      const shown = new Map<number, ShownStatement>()
      const end = from + count
      let next = from
      for (let requests = 0; next < end && requests < MAX_REQUESTS; requests++) {
        const answer = await fetchObject(`v1/log/statements?from=${next}&limit=${end - next}`)
        if (!answer) throw new Unreadable('the gateway shows no statements of its log')
        const page = listIn(answer, 'entries').flatMap(readShown)
        for (const [index, statement] of page) if (index >= next && index < end) shown.set(index, statement)
        const last = page.at(-1)?.[0] ?? -1
        if (last < next) break
        next = last + 1
      }
      return shown
    },

    async keys() {
      const text = await fetchText('v1/keys')
      if (text === null) throw new Unreadable('the gateway has no list of its keys')
      return text
    },

    async domainTag() {
      const { evidence } = (await fetchObject('.well-known/svc.json')) ?? {}
      const tag = isObject(evidence) ? evidence.domain_tag : undefined
      if (typeof tag !== 'string') throw new Unreadable('the gateway does not name its domain tag')
      return tag
    },

    async anchors() {
      const answer = await fetchObject(`v1/log/anchors?limit=${ANCHORS}`)
      return answer ? listIn(answer, 'anchors').filter(isObject).slice(0, ANCHORS) : []
    },
  }
}

function readShown(entry: Json): [number, ShownStatement][] {
  if (!isObject(entry)) return []
  const { index, statement_digest: digest, envelope = null, anchor = null } = entry
  if (typeof index !== 'number' || typeof digest !== 'string') return []
  const orNull = (value: Json) => (isObject(value) ? value : null)
  return [[index, { digest, envelope: orNull(envelope), anchor: orNull(anchor) }]]
}

function listIn(answer: JsonObject, field: string): readonly Json[] {
  const list = answer[field]
  if (!Array.isArray(list)) throw new Unreadable(`the gateway's answer has no ${field}`)
  return list
}

function parsed(text: string): Json {
  try {
    return parseStrictJson(text, MAX_BYTES, MAX_VALUES)
  } catch (cause) {
    throw new Unreadable(`the gateway's answer is not strict JSON: ${(cause as Error).message}`, { cause })
  }
}
