// Runs in a page: the same readers as on a server, with the modules for browsers.

import { fromBase64 } from '@svc/protocol/bytes'
import type { Cases } from '../cases.ts'
import { type Examples, type Objection, readAll } from '../readers.ts'
import { problemsBy, type RuledKind } from '../rules/rules.ts'
import { verdictsOn } from '../signatures.ts'

/** Bytes are base64. */
interface PageTask {
  examples: Examples
  texts: readonly string[]
  signed: readonly { publicKey: string; message: string; signature: string }[]
}

export interface PageAnswer {
  objections: Record<string, Objection[]>
  verdicts: Record<string, boolean>[]
}

declare global {
  var readInPage: (task: PageTask) => Promise<PageAnswer>
  var problemsInPage: (kind: RuledKind, cases: readonly Cases[RuledKind][]) => (string | null)[]
}

globalThis.readInPage = async ({ examples, texts, signed }) => {
  const verdicts: Record<string, boolean>[] = []
  for (const { publicKey, message, signature } of signed) {
    const given = { publicKey: bytes(publicKey), message: bytes(message), signature: bytes(signature) }
    verdicts.push(await verdictsOn(given))
  }
  return { objections: await readAll(examples, texts.map(bytes)), verdicts }
}

globalThis.problemsInPage = problemsBy

function bytes(base64: string): Uint8Array {
  return fromBase64(base64) as Uint8Array
}
