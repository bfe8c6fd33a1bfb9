// Open files by their numbers. A FileHandle costs as much as what is done with a small file.

import fs from 'node:fs'
import { promisify } from 'node:util'

export const openFile = promisify(fs.open)
export const readBytes = promisify(fs.read)
export const writeBuffers = promisify(fs.writev)
export const syncFile = promisify(fs.fsync)
export const syncData = promisify(fs.fdatasync)

/** Returns immediately: the bytes are already synced, or being written. */
export const closeFile = fs.closeSync
