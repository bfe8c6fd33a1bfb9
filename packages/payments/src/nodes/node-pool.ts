// The configured nodes of one chain, and the ways to ask them. Every question has a deadline, and none goes to a node
// before it has shown that it is on the right chain. Where an answer decides something, the node must show it again
// afterwards: an address can lead to another machine from one moment to the next.

import { setTimeout as sleep } from 'node:timers/promises'

/** What a node said that keeps us from believing it. The text goes to the log: it must not quote the node's address. */
export class NodeProblem extends Error {
  override name: string = 'NodeProblem'
}

/** The node is on another chain than the configured one. */
export class WrongChain extends NodeProblem {
  override name = 'WrongChain'
}

/** No node of the chain answers. */
export class ChainUnavailable extends Error {
  override name: string = 'ChainUnavailable'
}

/** Nodes answer, but too few of them the same. */
export class NodesDisagree extends ChainUnavailable {
  override name = 'NodesDisagree'
}

/** What a chain family knows about asking one node. */
export interface NodeOptions<Client> {
  url: string
  client: Client
  /** Throws `WrongChain`. */
  requireChain(client: Client, signal: AbortSignal): Promise<void>
  /** Says in a few words what a library's error means, without the node's address. */
  describe(error: unknown): string
}

export type Question<Client, Answer> = (client: Client, signal: AbortSignal) => Promise<Answer>

export interface ChainNode<Client> {
  /** Its host: paths, queries and user names carry keys. */
  readonly name: string
  ask<Answer>(question: Question<Client, Answer>): Promise<Answer>
  /** The same, for an answer that decides something: rejects when the node is on another chain by then. */
  askToDecide<Answer>(question: Question<Client, Answer>): Promise<Answer>
  requireChain(): Promise<void>
  /** Why a question failed, for the log. */
  describe(error: unknown): string
}

type NodeReply<Answer> = { node: string; answer: Answer } | { node: string; problem: string }

export interface NodePool<Client> {
  readonly nodes: readonly ChainNode<Client>[]
  /** Asks all nodes at once: the first good answer, or any when none is good. Throws `ChainUnavailable`. */
  first<Answer>(question: Question<Client, Answer>, isGood?: (answer: Answer) => boolean): Promise<Answer>
  /**
   * Asks all nodes at once: the first answer that a quorum of nodes gives. An answer that something is absent counts only
   * when so many nodes give it that the others cannot be a quorum. Throws `ChainUnavailable` or `NodesDisagree`.
   */
  agree<Answer>(question: Question<Client, Answer>, isAbsence?: (answer: Answer) => boolean): Promise<Answer>
  /** Asks all nodes at once: the highest number that a quorum of nodes has reached. Throws `ChainUnavailable`. */
  highest(question: Question<Client, number>): Promise<number>
  /** Asks all nodes at once: the answers that come within a second of the first. */
  all<Answer>(question: Question<Client, Answer>): Promise<Answer[]>
  /** Whether a quorum of nodes answers right now, for the right chain. */
  isAvailable(): Promise<boolean>
}

/** How long a probe's answer holds. */
const KNOWN_FOR_MS = 10_000
/** How long the other nodes are waited for after the first has answered. */
const OTHERS_MS = 1000

export interface PoolOptions {
  /** For one question to one node, with the check of its chain. */
  timeoutMs: number
  /** How many nodes must agree where `agree` and `highest` ask; 1 unless set. */
  quorum?: number
}

/** `chain` names the chain in errors. */
export function createNodePool<Client>(
  chain: string,
  options: readonly NodeOptions<Client>[],
  { timeoutMs, quorum = 1 }: PoolOptions,
): NodePool<Client> {
  const nodes = options.map((node) => createNode(node, timeoutMs))

  async function replyOf<Answer>(node: ChainNode<Client>, asked: Promise<Answer>): Promise<NodeReply<Answer>> {
    try {
      return { node: node.name, answer: await asked }
    } catch (error) {
      return { node: node.name, problem: node.describe(error) }
    }
  }

  function unavailable(replies: readonly NodeReply<unknown>[]): ChainUnavailable {
    return new ChainUnavailable(`no node of the ${chain} answers`, { cause: new NodeProblem(problemsIn(replies)) })
  }

  function withoutQuorum(replies: readonly NodeReply<unknown>[]): ChainUnavailable {
    const answers = replies.filter((reply) => 'answer' in reply)
    const sides = Object.values(Object.groupBy(answers, ({ answer }) => comparable(answer)))
    if (sides.length < 2) return unavailable(replies)
    const parties = sides.map((side = []) => side.map(({ node }) => node).join(', '))
    const cause = new NodeProblem(`the nodes contradict each other: ${parties.join(' against ')}`)
    return new NodesDisagree(`the nodes of the ${chain} disagree`, { cause })
  }

  const all: NodePool<Client>['all'] = async (question) => {
    const answers: Awaited<ReturnType<typeof question>>[] = []
    const asked = nodes.map(async (node) => answers.push(await node.askToDecide(question)))
    await Promise.any(asked).catch(() => {})
    await Promise.race([Promise.allSettled(asked), sleep(OTHERS_MS, null, { ref: false })])
    return [...answers]
  }

  return {
    nodes,
    all,

    async first(question, isGood = () => true) {
      const replies = nodes.map((node) => replyOf(node, node.ask(question)))
      const good = replies.map(async (pending) => {
        const reply = await pending
        if ('answer' in reply && isGood(reply.answer)) return reply.answer
        throw new NodeProblem('no good answer')
      })
      return Promise.any(good).catch(async () => {
        const all = await Promise.all(replies)
        const any = all.find((reply) => 'answer' in reply)
        if (any) return any.answer
        throw unavailable(all)
      })
    },

    async agree(question, isAbsence = () => false) {
      const replies = nodes.map((node) => replyOf(node, node.askToDecide(question)))
      const votes: string[] = []
      const agreed = replies.map(async (pending) => {
        const reply = await pending
        if ('problem' in reply) throw new NodeProblem(reply.problem)
        const needed = isAbsence(reply.answer) ? nodes.length - quorum + 1 : quorum
        if (needed === 1) return reply.answer
        const text = comparable(reply.answer)
        votes.push(text)
        const count = votes.filter((vote) => vote === text).length
        if (count < needed) throw new NodeProblem('too few nodes say so')
        return reply.answer
      })
      return Promise.any(agreed).catch(async () => {
        throw withoutQuorum(await Promise.all(replies))
      })
    },

    async highest(question) {
      const reached = (await all(question)).toSorted((a, b) => b - a)[quorum - 1]
      if (reached === undefined) throw new ChainUnavailable(`too few nodes of the ${chain} answer`)
      return reached
    },

    async isAvailable() {
      let answering = 0
      const enough = nodes.map(async (node) => {
        await node.requireChain()
        answering += 1
        if (answering < quorum) throw new NodeProblem('too few nodes answer')
      })
      return Promise.any(enough).then(
        () => true,
        () => false,
      )
    },
  }
}

/** Whether enough nodes of the chain answer. Asked every ten seconds at most. */
export function createChainProbe(
  pool: Pick<NodePool<unknown>, 'isAvailable'>,
  now: () => number,
): () => Promise<boolean> {
  let checkedAt = Number.NEGATIVE_INFINITY
  let answer: Promise<boolean> = Promise.resolve(false)
  return () => {
    if (Math.abs(now() - checkedAt) >= KNOWN_FOR_MS) {
      checkedAt = now()
      answer = pool.isAvailable()
    }
    return answer
  }
}

/** The same text for the same answer. */
function comparable(answer: unknown): string {
  return JSON.stringify(answer, (_, value) => (typeof value === 'bigint' ? `${value}n` : value)) ?? ''
}

/** What the nodes that did not answer replied, each by its name. */
function problemsIn(replies: readonly NodeReply<unknown>[]): string {
  if (replies.length === 0) return 'no node is configured'
  return replies.flatMap((reply) => ('problem' in reply ? [`${reply.node}: ${reply.problem}`] : [])).join('; ')
}

/** The chain is checked before the first question, and again after every failure and every answer that decides. */
function createNode<Client>(
  { url, client, requireChain, describe }: NodeOptions<Client>,
  timeoutMs: number,
): ChainNode<Client> {
  let isRightChain = false

  async function ask<Answer>(question: Question<Client, Answer>): Promise<Answer> {
    const stop = new AbortController()
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      const problem = new NodeProblem(`no answer within ${timeoutMs} ms`)
      stop.abort(problem)
      // A request that others share goes on until the first of them stops it.
      late.reject(problem)
    }, timeoutMs)
    timer.unref()
    try {
      return await Promise.race([believe(question, stop.signal), late.promise])
    } catch (error) {
      isRightChain = false
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  async function believe<Answer>(question: Question<Client, Answer>, signal: AbortSignal): Promise<Answer> {
    if (!isRightChain) await requireChain(client, signal)
    isRightChain = true
    return question(client, signal)
  }

  return {
    name: nodeName(url),
    ask,
    askToDecide: (question) =>
      ask(async (client, signal) => {
        const answer = await question(client, signal)
        await requireChain(client, signal)
        return answer
      }),
    requireChain() {
      isRightChain = false
      return ask(async () => {})
    },
    describe: (error) => (error instanceof NodeProblem ? error.message : describe(error)),
  }
}

export function nodeName(url: string): string {
  return URL.parse(url)?.host ?? 'node'
}
