// Requests to a witness, and logs for them.

import { toBase64 } from '@svc/protocol/bytes'
import { testKey } from '@svc/protocol/test/transparency/keys'
import { memoryLog } from '@svc/protocol/test/transparency/trees'
import { signCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { rootOf } from '@svc/protocol/transparency/frontier'
import { formatKey } from '@svc/protocol/transparency/note'
import { proveConsistency } from '@svc/protocol/transparency/prove'
import type { Hash, TreeHead } from '@svc/protocol/transparency/tree'

export interface Reply {
  status: number
  type: string | null
  text: string
}

export async function post(url: string, body: string | Uint8Array<ArrayBuffer>): Promise<Reply> {
  const answer = await fetch(`${url}/add-checkpoint`, { method: 'POST', body })
  return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() }
}

export function requestBody(oldSize: number, proof: readonly Hash[], checkpoint: string): string {
  return [`old ${oldSize}`, ...proof.map(toBase64), '', checkpoint].join('\n')
}

/** A log with deterministic entries: every log of this name grows in the same way. */
export function testLog(name: string) {
  const { key, sign } = testKey(name, 'log')
  const treeAt = (size: number) => memoryLog(size === 0 ? [] : [size])
  const headAt = (size: number): TreeHead => ({ size, root: rootOf(treeAt(size).frontier) })
  const signHead = (head: TreeHead) => signCheckpoint(key, head, sign)
  const prove = (from: number, to: number) => proveConsistency(from, to, treeAt(to).readTile)
  return {
    key,
    sign,
    line: `log ${formatKey(key)}`,
    headAt,
    signHead,
    checkpoint: (size: number) => signHead(headAt(size)),
    prove,
    request: async (from: number, to: number) =>
      requestBody(from, from > to ? [] : await prove(from, to), await signHead(headAt(to))),
  }
}
