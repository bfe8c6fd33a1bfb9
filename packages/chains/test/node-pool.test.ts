import { describe, expect, it } from 'vitest'
import { ChainUnavailable, createNodePool, type NodeOptions, NodeProblem, nodeName } from '../src/node-pool.ts'

type Ask = (signal: AbortSignal) => Promise<string>

function node(host: string, client: Ask, requireChain = async () => {}): NodeOptions<Ask> {
  return { url: `https://user:secret@${host}/secret`, client, requireChain, describe: () => 'broken' }
}

const says = (answer: string) => node('says', async () => answer)
const fails = (host: string) =>
  node(host, async () => {
    throw new NodeProblem('makes no sense')
  })
const hangs = node('silent', (signal) => {
  const { promise, reject } = Promise.withResolvers<string>()
  signal.addEventListener('abort', () => reject(signal.reason))
  return promise
})
const never = node('never', () => new Promise(() => {}))

const poolOf = (...nodes: NodeOptions<Ask>[]) => createNodePool('test chain', nodes, 60)
const ask = (client: Ask, signal: AbortSignal) => client(signal)
const isGood = (answer: string) => answer === 'good'

describe('a pool of nodes', () => {
  it('takes the first good answer without waiting for the others', async () => {
    const pool = poolOf(never, fails('a'), says('bad'), says('good'))
    expect(await pool.race(ask, isGood)).toEqual({ answer: 'good' })
    expect(await pool.first(ask, isGood)).toBe('good')
  })

  it('tells what every node replied when no answer is good', async () => {
    expect(await poolOf(says('bad'), fails('a.example'), hangs).race(ask, isGood)).toEqual({
      replies: [
        { node: 'says', answer: 'bad' },
        { node: 'a.example', problem: 'makes no sense' },
        { node: 'silent', problem: 'no answer within 60 ms' },
      ],
    })
  })

  it('takes any answer when none is good', async () => {
    expect(await poolOf(fails('a'), says('bad')).first(ask, isGood)).toBe('bad')
  })

  it('is unavailable when no node answers, and the cause names each node and its problem', async () => {
    const cause = { message: 'a: makes no sense; b: makes no sense' }
    const unavailable = { name: 'ChainUnavailable', message: 'no node of the test chain answers', cause }
    await expect(poolOf(fails('a'), fails('b')).first(ask)).rejects.toMatchObject(unavailable)
    await expect(poolOf(fails('a'), fails('b')).inTurn(ask)).rejects.toMatchObject(unavailable)
  })

  it('is unavailable without nodes', async () => {
    await expect(poolOf().first(ask)).rejects.toBeInstanceOf(ChainUnavailable)
    await expect(poolOf().inTurn(ask)).rejects.toMatchObject({ cause: { message: 'no node is configured' } })
    expect(await poolOf().all(ask)).toEqual([])
    expect(await poolOf().isAvailable()).toBe(false)
  })

  it('collects the answers of all nodes that answer in time', async () => {
    expect(await poolOf(says('one'), fails('a'), says('two'), hangs).all(ask)).toEqual(['one', 'two'])
  })

  it('asks one node after the other until one answers', async () => {
    expect(await poolOf(fails('a'), says('second'), says('third')).inTurn(ask)).toBe('second')
  })

  it("has errors of libraries described by the node's family", async () => {
    const broken = node('b', async () => {
      throw new TypeError('http://user:password@b.example/key')
    })
    expect(await poolOf(broken).race(ask, isGood)).toEqual({ replies: [{ node: 'b', problem: 'broken' }] })
  })

  it('checks the chain of a node once, and again after a failure', async () => {
    let checks = 0
    let isDown = false
    const counting = node(
      'c',
      async () => {
        if (isDown) throw new NodeProblem('down')
        return 'up'
      },
      async () => {
        checks += 1
      },
    )
    const pool = poolOf(counting)
    await pool.first(ask)
    await pool.first(ask)
    expect(checks).toBe(1)
    isDown = true
    await expect(pool.first(ask)).rejects.toBeInstanceOf(ChainUnavailable)
    isDown = false
    await pool.first(ask)
    await pool.first(ask)
    expect(checks).toBe(2)
    expect(await pool.isAvailable()).toBe(true)
    expect(checks).toBe(3)
  })

  it('names a node by its host, never by what may hold a key', () => {
    expect(nodeName('https://user:secret@rpc.example:8443/v1/secret?key=secret')).toBe('rpc.example:8443')
    expect(nodeName('no address')).toBe('node')
  })
})
