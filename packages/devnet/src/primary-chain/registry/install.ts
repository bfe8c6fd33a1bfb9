import { readFileSync } from 'node:fs'
import type { LiteSVM } from 'litesvm'
import { REGISTRY } from './derived-address.ts'
import { standIn, type WithRegistry } from './stand-in.ts'

/** Puts the registry on a chain: its real program where there is a file with it, the stand-in otherwise. */
export function installRegistry(svm: LiteSVM, programFile: string | undefined): WithRegistry {
  if (programFile === undefined) return standIn(svm)
  try {
    svm.addProgram(REGISTRY, readFileSync(programFile))
  } catch (cause) {
    throw new Error(`the registry program ${programFile} cannot be loaded: ${String(cause)}`, { cause })
  }
  return (_wire, run) => run()
}
