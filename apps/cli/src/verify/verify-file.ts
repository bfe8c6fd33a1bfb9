import { createReadStream } from 'node:fs'
import { access } from 'node:fs/promises'
import { addAbortSignal } from 'node:stream'
import { type Given, type Verification, verifyBundle } from '@svc/verifier/verify-bundle'
import { UsageError } from '../failures.ts'
import type { World } from '../world.ts'

/** A bundle from disk or from the standard input, read as it comes: it may be long. */
export async function verifyFile({ stdin, signal }: World, path: string, given: Given): Promise<Verification> {
  if (path === '-') return verifyBundle(addAbortSignal(signal, stdin), given)
  await access(path).catch(() => {
    throw new UsageError(`the bundle ${path} cannot be read`)
  })
  return verifyBundle(createReadStream(path, { highWaterMark: 256 * 1024, signal }), given)
}
