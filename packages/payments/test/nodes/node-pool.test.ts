import { describe, expect, it } from 'vitest'
import {
  ChainUnavailable,
  createNodePool,
  type NodeOptions,
  NodeProblem,
  nodeName,
  WrongChain,
} from '../../src/nodes/node-pool.ts'

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

const poolOf = (...nodes: NodeOptions<Ask>[]) => createNodePool('test chain', nodes, { timeoutMs: 60 })
const ask = (client: Ask, signal: AbortSignal) => client(signal)
const isGood = (answer: string) => answer === 'good'

describe('a pool of nodes', () => {
  it('returns the first good answer without waiting for the others', async () => {
    const pool = poolOf(never, fails('a'), says('bad'), says('good'))
    expect(await pool.first(ask, isGood)).toBe('good')
  })

  it('returns any answer when none is good', async () => {
    expect(await poolOf(fails('a'), says('bad')).first(ask, isGood)).toBe('bad')
  })

  it('is unavailable when no node answers, and the cause names each node and its problem', async () => {
    const cause = { message: 'a: makes no sense; silent: no answer within 60 ms' }
    const unavailable = { name: 'ChainUnavailable', message: 'no node of the test chain answers', cause }
    await expect(poolOf(fails('a'), hangs).first(ask)).rejects.toMatchObject(unavailable)
    await expect(poolOf(fails('a'), hangs).agree(ask)).rejects.toMatchObject(unavailable)
  })

  it('is unavailable in time even if a node ignores its deadline', async () => {
    await expect(poolOf(never).agree(ask)).rejects.toMatchObject({
      cause: { message: 'never: no answer within 60 ms' },
    })
  })

  it('is unavailable without nodes', async () => {
    await expect(poolOf().first(ask)).rejects.toBeInstanceOf(ChainUnavailable)
    await expect(poolOf().agree(ask)).rejects.toMatchObject({ cause: { message: 'no node is configured' } })
    expect(await poolOf().all(ask)).toEqual([])
    expect(await poolOf().isAvailable()).toBe(false)
  })

  it('collects the answers of all nodes that answer in time', async () => {
    expect(await poolOf(says('one'), fails('a'), says('two'), hangs).all(ask)).toEqual(['one', 'two'])
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

  it('T-45 rejects a decisive answer of a node that is on another chain afterwards', async () => {
    let chain = 'right'
    const turncoat = node(
      't',
      async () => {
        chain = 'wrong'
        return '7'
      },
      async () => {
        if (chain !== 'right') throw new WrongChain('a node of another chain')
      },
    )
    const height = async (client: Ask, signal: AbortSignal) => Number(await client(signal))
    const pool = poolOf(turncoat)
    for (const decide of [() => pool.agree(ask), () => pool.highest(height)]) {
      chain = 'right'
      await expect(decide()).rejects.toBeInstanceOf(ChainUnavailable)
    }
    chain = 'right'
    expect(await pool.all(ask)).toEqual([])
    chain = 'right'
    expect(await poolOf(turncoat, says('7')).agree(ask)).toBe('7')
  })

  it('names a node by its host only, because other parts may contain a key', () => {
    expect(nodeName('https://user:secret@rpc.example:8443/v1/secret?key=secret')).toBe('rpc.example:8443')
    expect(nodeName('no address')).toBe('node')
  })
})

describe('a quorum of nodes', () => {
  const twoOf = (...nodes: NodeOptions<Ask>[]) => createNodePool('test chain', nodes, { timeoutMs: 60, quorum: 2 })
  const isAbsence = (answer: string) => answer === 'nothing'

  it('T-45 returns the answer that two nodes agree on, whatever the third does', async () => {
    for (const other of [says('lie'), says('nothing'), fails('a'), never])
      expect(await twoOf(other, says('true'), says('true')).agree(ask, isAbsence)).toBe('true')
  })

  it('T-45 decides nothing while no two nodes agree, and names the nodes that contradict each other', async () => {
    const disputed = {
      name: 'NodesDisagree',
      message: 'the nodes of the test chain disagree',
      cause: { message: 'the nodes contradict each other: a against b' },
    }
    const answering = (host: string, answer: string) => node(host, async () => answer)
    await expect(twoOf(answering('a', 'one'), answering('b', 'two'), fails('c')).agree(ask)).rejects.toMatchObject(
      disputed,
    )
    const alone = twoOf(answering('a', 'one'), fails('b'), fails('c')).agree(ask)
    await expect(alone).rejects.toMatchObject({
      name: 'ChainUnavailable',
      cause: { message: 'b: makes no sense; c: makes no sense' },
    })
  })

  it('T-45 reports absence only when the other nodes could not form a quorum', async () => {
    expect(await twoOf(says('nothing'), says('nothing'), says('lie')).agree(ask, isAbsence)).toBe('nothing')
    expect(await twoOf(says('nothing'), says('true'), says('true')).agree(ask, isAbsence)).toBe('true')
    await expect(twoOf(says('nothing'), fails('a'), fails('b')).agree(ask, isAbsence)).rejects.toBeInstanceOf(
      ChainUnavailable,
    )
    const any = poolOf(says('nothing'), fails('a'))
    await expect(any.agree(ask, isAbsence)).rejects.toMatchObject({ name: 'ChainUnavailable' })
  })

  it('T-45 is available as long as two nodes answer', async () => {
    const other = node(
      'other',
      async () => 'x',
      async () => {
        throw new WrongChain('a node of another chain')
      },
    )
    expect(await twoOf(says('a'), other, says('b')).isAvailable()).toBe(true)
    expect(await twoOf(says('a'), other).isAvailable()).toBe(false)
  })

  it('T-45 returns the highest number that two nodes have reached', async () => {
    const height = async (client: Ask, signal: AbortSignal) => Number(await client(signal))
    expect(await twoOf(says('999'), says('12'), says('10')).highest(height)).toBe(12)
    await expect(twoOf(says('999'), fails('a')).highest(height)).rejects.toBeInstanceOf(ChainUnavailable)
  })
})
