// Firestore for tests and demonstrations: an emulator, and before it what lets calls go wrong.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { KeptDocument } from './emulator.ts'
import { createFaults, type Fault } from './faults.ts'
import { createFront } from './front.ts'

export interface FirestoreServer {
  /** `host:port`. */
  address: string
  /** The emulator itself, where nothing goes wrong, and calls are neither seen nor passed on. */
  directAddress: string
  /** Every call so far, by its method. */
  readonly calls: readonly string[]
  fail(fault: Fault): void
  /** Nothing fails any more. */
  recover(): void
  documents(): Promise<KeptDocument[]>
  /** Of the same documents, each as a whole. */
  encodedLengths(): Promise<number[]>
  /** Nobody answers any more; the documents stay. */
  goDown(): Promise<void>
  /** At the same address. */
  comeBack(): Promise<void>
  stop(): Promise<void>
}

export async function startFirestoreServer(): Promise<FirestoreServer> {
  const child = fork(fileURLToPath(import.meta.resolve('./emulator.ts')), { env: {} })
  const exited = once(child, 'exit')
  const [emulatorPort] = (await once(child, 'message')) as [number]
  const emulator = connect(`http://127.0.0.1:${emulatorPort}`, { settings: { initialWindowSize: 4 * 1024 * 1024 } })
  emulator.on('error', () => {})
  const faults = createFaults()
  const calls: string[] = []
  const { server, cut } = createFront(emulator, (method) => {
    calls.push(method)
    return faults.strike(method)
  })

  async function listen(at: number): Promise<number> {
    server.listen(at, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port // a listening TCP server has one
  }

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

  const boundPort = await listen(0)
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
      await listen(boundPort)
    },
    async stop() {
      if (server.listening) await goDown()
      emulator.destroy()
      child.kill()
      await exited
    },
  }
}
