// For tests: the conformance pack, in Node and in a browser.

import { utf8 } from '@svc/protocol/bytes'
import { readable } from '@svc/protocol/test/transparency/keys'
import { readKey } from '@svc/protocol/transparency/note'
import { readPolicy } from '@svc/protocol/transparency/policy'
import index from '../../../vectors/bundles/index.json' with { type: 'json' }
import type { FileSource } from '../src/check-files.ts'
import { readPinnedKeys } from '../src/pinned-keys.ts'
import type { Chunks } from '../src/read-bundle.ts'
import type { Rpc } from '../src/rpc.ts'
import { type Given, type VerifiedBundle, verifyBundle } from '../src/verify-bundle.ts'

export interface PackGiven {
  pinned_keys?: string[] | object
  pinned_signers?: string[]
  domain_tag?: string
  audience?: string
  log_keys?: string[]
  policy?: string
  rpc?: string
  files?: Record<string, string>
}

export interface PackCase {
  name: string
  file: string
  what: string
  given: PackGiven
  expect: Record<string, string>
}

export const CASES = index.cases as unknown as PackCase[] // each case has other keys, which no inferred type covers
export const CHAINS = index.chains as { what: string; files: string[]; given: PackGiven; expect: object }[]

export const REFUSED_KEYS = index.refused_keys as { what: string; list: unknown }[]

export async function packBytes(name: string): Promise<Uint8Array> {
  const url = new URL(/* @vite-ignore */ `../../../vectors/bundles/${name}`, import.meta.url)
  if (url.protocol === 'file:') return (await import('node:fs/promises')).readFile(url)
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${response.status} for ${name}`)
  return new Uint8Array(await response.arrayBuffer())
}

/** Throws if the bundle is refused. */
export async function verified(chunks: Chunks, given: Given = {}): Promise<VerifiedBundle> {
  const verification = await verifyBundle(chunks, given)
  if (verification.refused) throw new Error(verification.refused.why)
  return verification
}

export async function givenOf(given: PackGiven): Promise<Given> {
  return {
    ...(given.pinned_keys && givenKeys(given.pinned_keys)),
    ...(given.pinned_signers && { pinnedSigners: given.pinned_signers }),
    ...(given.domain_tag && { domainTag: given.domain_tag }),
    ...(given.audience && { audience: given.audience }),
    ...(given.log_keys && { pinnedLogs: given.log_keys.map((key) => readable(readKey(key))) }),
    ...(given.policy && { policy: readable(readPolicy(given.policy)) }),
    ...(given.files && { files: folder(given.files) }),
    ...(given.rpc && { rpc: recordedNode(JSON.parse(new TextDecoder().decode(await packBytes(given.rpc)))) }),
  }
}

export function pinnedKeys(given: string[] | object) {
  return givenKeys(given).pinnedKeys
}

function givenKeys(given: string[] | object) {
  const read = readPinnedKeys(Array.isArray(given) ? given.join() : JSON.stringify(given))
  if (!read.ok) throw new Error(read.problem)
  const { keys, changes, recovery, logs } = read
  return { pinnedKeys: keys, listed: { changes, recovery, logs } }
}

function folder(files: Record<string, string>): FileSource {
  return {
    open(filename) {
      if (/\.\.\/|^\/|\\|\0/.test(filename)) throw new Error(`asked for ${filename}`)
      return Object.hasOwn(files, filename) ? [utf8(files[filename] as string)] : null
    },
    names: () => Object.keys(files),
  }
}

interface Recorded {
  method: string
  params: unknown[]
  result?: unknown
  error?: { message: string }
}

/** A node that only has the recorded answers. */
function recordedNode(answers: readonly Recorded[]): Rpc {
  return async (method, params) => {
    const question = JSON.stringify([method, params])
    const answer = answers.find((recorded) => JSON.stringify([recorded.method, recorded.params]) === question)
    if (!answer) throw new Error('no answer was recorded')
    if (answer.error) throw new Error(answer.error.message)
    return answer.result
  }
}
