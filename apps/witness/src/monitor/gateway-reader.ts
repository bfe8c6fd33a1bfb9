// What the gateway of a log says about it, at the address beside the log's: the statements, its keys, and its anchors.
// All of it is the word of the gateway until it is checked.

import type { Json } from '@svc/protocol/canonical'
import { parseStrictJson } from '@svc/protocol/strict-json'
import { isObject, type JsonObject } from '@svc/verifier/untrusted'
import { type BoundedGet, textOf, Unreadable } from './bounded-get.ts'

/** What the gateway shows for an entry of the log. */
export interface ShownStatement {
  digest: string
  /** Null where the gateway has it no more. */
  envelope: JsonObject | null
  anchor: JsonObject | null
}

export interface GatewayReader {
  /** Whether the gateway has this log, and says that it has no entry yet. */
  hasEmptyLog(origin: string): Promise<boolean>
  /** By index. Those that the gateway does not show are missing. */
  statements(from: number, count: number): Promise<Map<number, ShownStatement>>
  /** The list of its signing keys. */
  keys(): Promise<string>
  domainTag(): Promise<string>
  /** Of checkpoints, the newest first. */
  anchors(): Promise<JsonObject[]>
}

/** More than 256 statements with their anchors. */
const MAX_BYTES = 4 * 1024 * 1024
const MAX_VALUES = 200_000
/** Requests for one page of statements, however few each answer has. */
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
    if (!isObject(value)) throw new Unreadable(`${path} of the gateway is not an object of JSON`)
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
