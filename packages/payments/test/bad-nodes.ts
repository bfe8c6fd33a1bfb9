import { DISTORTIONS, FLOODS, STALLS } from '@svc/devnet/distortions'
import {
  type Behaviour,
  type FaultyNode,
  honestly,
  type Reply,
  spoil,
  startFaultyNode,
  withBody,
  withResult,
} from '@svc/devnet/faulty-node'
import { startFaultyProxy } from '@svc/devnet/faulty-proxy'
import type { LocalNode, NodeFaults } from '@svc/devnet/node-faults'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { ChainReading, Destination, PaymentReader } from '../src/payment.ts'

/** A chain with a payment on it, and how this family reads it. */
export interface Subject {
  url: string
  tx: string
  destination: Destination
  /** The call that reveals the chain, and the answer of a node of another chain. */
  chainMethod: string
  otherChain: string
  /** The call that finds the transaction: null when there is none. */
  findMethod: string
  /** All other calls of a reading. */
  methods: readonly string[]
  createReader(rpcUrls: readonly string[], timeoutMs: number): PaymentReader
  startNode(faults: NodeFaults): Promise<LocalNode>
  stop(): Promise<void>
}

const UNAVAILABLE = { outcome: 'unavailable', problem: expect.any(String) }
const NOT_FOUND = { outcome: 'not_found' }
const RPC_ERROR = '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error"}}'
const NO_RESULT = '{"jsonrpc":"2.0","id":1}'
/** Longer than any answer takes, whatever else the machine does. */
const TIMEOUT_MS = 20_000

const always = (reply: Reply): Behaviour => {
  return () => reply
}

/** The required behaviour of every family's reader with nodes that fail or lie. */
export function describeBadNodes(family: string, start: () => Promise<Subject>) {
  describe(`${family} nodes that cannot be trusted`, () => {
    let subject: Subject
    let node: FaultyNode
    let reader: PaymentReader
    let honest: ChainReading
    beforeAll(async () => {
      subject = await start()
      node = await startFaultyNode(subject.url)
      honest = await subject.createReader([subject.url], TIMEOUT_MS).read(subject.tx, subject.destination)
      expect(honest.outcome).toBe('found')
    })
    beforeEach(() => {
      node.behave(honestly)
      node.calls.length = 0
      reader = subject.createReader([`${node.url}/a-key`], TIMEOUT_MS)
    })
    afterAll(async () => {
      await node.stop()
      await subject.stop()
    })

    const read = (from = reader) => from.read(subject.tx, subject.destination)

    it('accepts an honest node behind the same proxy', async () => {
      expect(await read()).toEqual(honest)
    })

    it.each<[string, Behaviour]>([
      ['never answers', () => null],
      ['never ends its answer', always({ body: '{"jsonrpc":', stalls: true })],
      ['asks for a retry in an hour', always({ status: 503, headers: { 'retry-after': '3600' }, body: '' })],
    ])('PAY-49 times out with a node that %s', async (_, behaviour) => {
      node.behave(behaviour)
      expect(await read(subject.createReader([node.url], 100))).toEqual(UNAVAILABLE)
    })

    it.each<[string, Behaviour]>([
      ['answers 500', always({ status: 500, body: RPC_ERROR })],
      ['answers with an error', always({ body: RPC_ERROR })],
      ['answers with a page', always({ body: '<html>welcome</html>', headers: { 'content-type': 'text/html' } })],
      ['answers with an empty list', always({ body: '[]' })],
    ])('reports unavailable for a node that %s', async (_, behaviour) => {
      node.behave(behaviour)
      expect(await read()).toEqual(UNAVAILABLE)
    })

    it.each([
      ['an error', RPC_ERROR],
      ['no result', NO_RESULT],
      ['a text', '{"jsonrpc":"2.0","id":1,"result":"0x"}'],
      ['an empty list', '{"jsonrpc":"2.0","id":1,"result":[]}'],
      ['an empty record', '{"jsonrpc":"2.0","id":1,"result":{}}'],
    ])('PAY-49 reads %s as no answer, not as a missing transaction', async (_, body) => {
      for (const method of subject.methods) {
        node.behave(withBody(method, body))
        expect(await read()).toEqual(UNAVAILABLE)
      }
    })

    it('is not misled when any part of an answer is replaced', { tags: ['nightly'] }, async () => {
      for (const method of subject.methods) {
        let truth: unknown
        node.behave(
          withResult(method, (result) => {
            truth = result
            return result
          }),
        )
        await read()
        for (const lie of spoil(truth)) {
          node.behave(withResult(method, () => lie))
          const reading = await read()
          expect(reading.outcome).not.toBe('not_found')
          // An honest node may not know the time.
          if (reading.outcome === 'found') expect([honest, { ...honest, blockTime: null }]).toContainEqual(reading)
        }
      }
    })

    it('PAY-46 T-45 reports unavailable for a node of another chain, and checks the chain with every reading', async () => {
      node.behave(withResult(subject.chainMethod, () => subject.otherChain))
      expect(await read()).toEqual(UNAVAILABLE)
      expect(node.calls).toEqual([subject.chainMethod])
      node.behave(honestly)
      expect(await read()).toEqual(honest)
      expect(await read()).toEqual(honest)
      expect(node.calls.filter((method) => method === subject.chainMethod)).toHaveLength(4)
    })

    it('PAY-46 T-45 reports unavailable for a node that changes its chain between two answers', async () => {
      expect(await read()).toEqual(honest)
      node.behave(withResult(subject.chainMethod, () => subject.otherChain))
      expect(await read()).toEqual(UNAVAILABLE)
      node.behave(honestly)
      expect(await read()).toEqual(honest)
    })

    it('T-45 reports the truth or unavailable, however answers are damaged on their way', {
      tags: ['nightly'],
    }, async () => {
      const proxy = await startFaultyProxy(subject.url)
      onTestFinished(proxy.stop)
      for (const [name, distort] of Object.entries(DISTORTIONS)) {
        const generous = subject.createReader([proxy.url], name in STALLS ? 200 : TIMEOUT_MS)
        proxy.always(/./, { distort })
        const reading = await read(generous)
        if (name in STALLS || name in FLOODS) expect(reading, name).toEqual(UNAVAILABLE)
        else expect([honest, UNAVAILABLE], name).toContainEqual(reading)
        proxy.behave()
        expect(await read(subject.createReader([proxy.url], TIMEOUT_MS)), `after ${name}`).toEqual(honest)
      }
    })

    it('names a failed node without the key in its address', async () => {
      for (const behaviour of [
        always({ status: 500, body: 'no' }),
        always({ body: RPC_ERROR }),
        always({ body: '' }),
      ]) {
        node.behave(behaviour)
        const reading = await read()
        const problem = reading.outcome === 'unavailable' ? reading.problem : ''
        expect(problem).toContain(new URL(node.url).host)
        expect(problem).not.toContain('a-key')
      }
      const credentials = subject.createReader([node.url.replace('//', '//user:a-key@')], TIMEOUT_MS)
      expect(JSON.stringify(await read(credentials), (_, value) => value.toString())).not.toContain('a-key')
    })

    it.each<[string, NodeFaults, object]>([
      ['lags', { behind: 10_000 }, NOT_FOUND],
      ['has lost it', { keeps: 1 }, NOT_FOUND],
      ['refuses every second request', { refusesEvery: 2 }, UNAVAILABLE],
    ])('PAY-49 a node that %s does not hide a payment that another node has', async (_, faults, alone) => {
      const { url } = await subject.startNode(faults)
      expect(await read(subject.createReader([url], TIMEOUT_MS))).toEqual(alone)
      expect(await read(subject.createReader([url, subject.url], TIMEOUT_MS))).toEqual(honest)
    })
  })
}
