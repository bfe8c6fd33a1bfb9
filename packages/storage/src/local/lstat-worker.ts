// Runs in a thread of its own, which `lstat-thread.ts` starts.

import { lstatSync } from 'node:fs'
import { dirname } from 'node:path'
import { parentPort } from 'node:worker_threads'
import type { LstatAnswer, LstatQuestion } from './lstat-thread.ts'

parentPort!.on('message', ([paths, port]: LstatQuestion) => port.postMessage(lookFor(paths)))

function lookFor(paths: readonly string[]): LstatAnswer {
  try {
    return Uint8Array.from(paths, (path) => (isThere(path) ? 1 : 0))
  } catch (error) {
    return { trouble: String(error) }
  }
}

function isThere(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found && !found.isFile()) throw new Error('an object is not a file')
  // Where the folder is gone too the disk is, and nobody knows of the object.
  if (!found && !lstatSync(dirname(path)).isDirectory()) throw new Error('a folder of objects is a file')
  return found !== undefined
}
