// Documents and their canonical forms (RFC 8785): `input/NAME` beside `output/NAME`, or `outhex/NAME` in hex.

import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fromUtf8, toBase64 } from '@svc/protocol/bytes'
import type { Corpora } from '../cases.ts'
import { type CorpusFile, hex } from './file.ts'

/** Outputs in `outhex` have another extension. */
const OUTPUTS = ['output', 'outhex']

function beside(path: string, folder: string, ending = ''): string {
  return join(
    dirname(dirname(path)),
    folder,
    basename(path).replace(/\.\w+$/, (own) => ending || own),
  )
}

export function isOutput({ path, has }: CorpusFile): boolean {
  if (!OUTPUTS.includes(basename(dirname(path)))) return false
  return has(beside(path, 'input')) || has(beside(path, 'input', '.json'))
}

/** Whether the file is an input with a known output. */
export async function addCanonical({ path, name, bytes, has, unread }: CorpusFile, { canonical }: Corpora) {
  if (basename(dirname(path)) !== 'input') return false
  const [plain, inHex] = [beside(path, 'output'), beside(path, 'outhex', '.txt')]
  if (!has(plain) && !has(inHex)) return false
  const input = toBase64(bytes)
  if (has(plain)) canonical.push({ name, input, output: toBase64(await readFile(plain)) })
  if (has(inHex)) {
    const output = hex((fromUtf8(await readFile(inHex)) ?? '').replace(/\s/g, ''))
    if (output) canonical.push({ name: `${name} in hex`, input, output: toBase64(output) })
    else unread('its output is not valid hex')
  }
  return true
}
