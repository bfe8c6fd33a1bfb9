import { describe, expect, it } from 'vitest'
import { type ChainNode, createAskNodes, NodeProblem, nodeName } from '../src/ask-nodes.ts'
import type { ChainReading } from '../src/payment.ts'

const DESTINATION = { asset: 'asset', payTo: 'treasury' }
const FOUND: ChainReading = {
  outcome: 'found',
  tx: 'tx',
  payer: 'payer',
  received: 1n,
  height: 1,
  blockTime: null,
  references: [],
}
const NOT_FOUND: ChainReading = { outcome: 'not_found' }
const FAILED: ChainReading = { outcome: 'rejected', reason: 'transaction_failed' }

function node(
  name: string,
  read: ChainNode['read'],
  requireChain: ChainNode['requireChain'] = async () => {},
): ChainNode {
  return { name, read, requireChain, describe: () => 'broken' }
}

const says = (reading: ChainReading) => node('says', async () => reading)
const fails = (name: string) =>
  node(name, async () => {
    throw new NodeProblem('nonsense')
  })
const hangs = node('silent', (_tx, _destination, signal) => {
  const { promise, reject } = Promise.withResolvers<ChainReading>()
  signal.addEventListener('abort', () => reject(signal.reason))
  return promise
})

const ask = (...nodes: ChainNode[]) => createAskNodes(nodes, 60)('tx', DESTINATION)

describe('asking several nodes', () => {
  it('takes the transaction from whichever has it, without waiting for the others', async () => {
    const never = node('never', () => new Promise(() => {}))
    expect(await ask(never, fails('a'), says(NOT_FOUND), says(FOUND))).toEqual(FOUND)
    expect(await ask(says(NOT_FOUND), says(FAILED))).toEqual(FAILED)
  })

  it('PAY-49 says not found only when every node says so', async () => {
    expect(await ask(says(NOT_FOUND), says(NOT_FOUND))).toEqual(NOT_FOUND)
    expect(await ask(says(NOT_FOUND), fails('a.example'), hangs)).toEqual({
      outcome: 'unavailable',
      problem: 'a.example: nonsense; silent: no answer within 60 ms',
    })
  })

  it('knows nothing without nodes', async () => {
    expect(await ask()).toEqual({ outcome: 'unavailable', problem: 'no node is configured' })
  })

  it("has errors of libraries described by the node's family", async () => {
    const broken = node('b', async () => {
      throw new TypeError('http://user:password@b.example/key')
    })
    expect(await ask(broken)).toEqual({ outcome: 'unavailable', problem: 'b: broken' })
  })

  it('asks for the chain once, and again after a failure', async () => {
    let checks = 0
    let isDown = false
    const counting = node(
      'c',
      async () => {
        if (isDown) throw new NodeProblem('down')
        return FOUND
      },
      async () => {
        checks += 1
      },
    )
    const askIt = createAskNodes([counting], 1_000)
    await askIt('tx', DESTINATION)
    await askIt('tx', DESTINATION)
    expect(checks).toBe(1)
    isDown = true
    await askIt('tx', DESTINATION)
    isDown = false
    await askIt('tx', DESTINATION)
    await askIt('tx', DESTINATION)
    expect(checks).toBe(2)
  })

  it('names a node by its host, never by what may hold a key', () => {
    expect(nodeName('https://user:secret@rpc.example:8443/v1/secret?key=secret')).toBe('rpc.example:8443')
    expect(nodeName('no address')).toBe('node')
  })
})
