// The program of the thread that `lstat-thread.ts` starts.

import { lstatSync } from 'node:fs'
import { dirname } from 'node:path'
import { parentPort } from 'node:worker_threads'
import type { LstatAnswer, LstatQuestion } from './lstat-thread.ts'

parentPort!.on('message', ([paths, port]: LstatQuestion) => port.postMessage(lookUp(paths)))

function lookUp(paths: readonly string[]): LstatAnswer {
  try {
    return Uint8Array.from(paths, (path) => (exists(path) ? 1 : 0))
  } catch (error) {
    return { error: String(error) }
  }
}

function exists(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found && !found.isFile()) throw new Error('an object is not a file')
  // When the folder is missing too, the disk is gone, and the status of the object is unknown.
  if (!found && !lstatSync(dirname(path)).isDirectory()) throw new Error('a folder of objects is a file')
  return found !== undefined
}
