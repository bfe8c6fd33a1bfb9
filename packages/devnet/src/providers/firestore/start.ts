// Firestore for tests and demonstrations: an emulator behind a front that makes calls fail on demand.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { fileURLToPath } from 'node:url'
import { listen } from '../../http-server.ts'
import { createFaults } from '../http/faults.ts'
import type { KeptDocument } from './emulator.ts'
import type { Fault, FaultPlan } from './faults.ts'
import { createFront } from './front.ts'

export interface FirestoreServer {
  /** `host:port`. */
  address: string
  /** The emulator itself: no faults, and calls are not recorded. */
  directAddress: string
  /** Every call so far, by its method. */
  readonly calls: readonly string[]
  fail(plan: FaultPlan): void
  /** Removes all faults. */
  recover(): void
  documents(): Promise<KeptDocument[]>
  /** The encoded length of each document. */
  encodedLengths(): Promise<number[]>
  /** Stops answering; the documents stay. */
  goDown(): Promise<void>
  /** Answers again, at the same address. */
  comeBack(): Promise<void>
  stop(): Promise<void>
}

export async function startFirestoreServer(): Promise<FirestoreServer> {
  const child = fork(fileURLToPath(import.meta.resolve('./emulator.ts')), { env: {} })
  const exited = once(child, 'exit')
  const [emulatorPort] = (await once(child, 'message')) as [number]
  const emulator = connect(`http://127.0.0.1:${emulatorPort}`, { settings: { initialWindowSize: 4 * 1024 * 1024 } })
  emulator.on('error', () => {})
  const faults = createFaults<Fault>()
  const calls: string[] = []
  const { server, cut } = createFront(emulator, (method) => {
    calls.push(method)
    return faults.take(method)
  })

  async function goDown(): Promise<void> {
    const closed = once(server, 'close')
    server.close()
    cut()
    await closed
  }

  async function ask<T>(question: string): Promise<T> {
    const answer = once(child, 'message')
    child.send(question)
    return (await answer)[0]
  }

  const boundPort = await listen(server, 0)
  return {
    address: `127.0.0.1:${boundPort}`,
    directAddress: `127.0.0.1:${emulatorPort}`,
    calls,
    fail: faults.add,
    recover: faults.clear,
    documents: () => ask('documents'),
    encodedLengths: () => ask('encodedLengths'),
    goDown,
    async comeBack() {
      await listen(server, boundPort)
    },
    async stop() {
      if (server.listening) await goDown()
      emulator.destroy()
      child.kill()
      await exited
    },
  }
}
