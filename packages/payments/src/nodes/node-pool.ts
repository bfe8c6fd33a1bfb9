// The configured nodes of one chain, and the ways to query them. Every query has a deadline, and a node must prove its
// chain before the first one. When a decision depends on an answer, the node must prove its chain again afterwards: an
// address can lead to another machine at any moment.

import { setTimeout as sleep } from 'node:timers/promises'

/** Why an answer of a node is not trusted. The text goes to the log: it must not quote the node's address. */
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

/** Nodes answer, but too few of them agree. */
export class NodesDisagree extends ChainUnavailable {
  override name = 'NodesDisagree'
}

/** How a chain family queries one node. */
export interface NodeOptions<Client> {
  url: string
  client: Client
  /** Throws `WrongChain`. */
  requireChain(client: Client, signal: AbortSignal): Promise<void>
  /** Describes a library's error in a few words, without the node's address. */
  describe(error: unknown): string
}

export type Question<Client, Answer> = (client: Client, signal: AbortSignal) => Promise<Answer>

export interface ChainNode<Client> {
  /** The host of the node: paths, queries and user names contain keys. */
  readonly name: string
  ask<Answer>(question: Question<Client, Answer>): Promise<Answer>
  /** Like `ask`, for an answer that decides something: also rejects when the node is on another chain afterwards. */
  askToDecide<Answer>(question: Question<Client, Answer>): Promise<Answer>
  requireChain(): Promise<void>
  /** Why a question failed, for the log. */
  describe(error: unknown): string
}

type NodeReply<Answer> = { node: string; answer: Answer } | { node: string; problem: string }

export interface NodePool<Client> {
  readonly nodes: readonly ChainNode<Client>[]
  /**
   * Queries all nodes at once and returns the first good answer, or any answer when none is good. Throws
   * `ChainUnavailable`.
   */
  first<Answer>(question: Question<Client, Answer>, isGood?: (answer: Answer) => boolean): Promise<Answer>
  /**
   * Queries all nodes at once and returns the first answer that a quorum of nodes agrees on. An answer that something
   * is absent counts only when so many nodes report it that the others cannot form a quorum. Throws `ChainUnavailable`
   * or `NodesDisagree`.
   */
  agree<Answer>(question: Question<Client, Answer>, isAbsence?: (answer: Answer) => boolean): Promise<Answer>
  /**
   * Queries all nodes at once and returns the highest number that a quorum of nodes has reached. Throws
   * `ChainUnavailable`.
   */
  highest(question: Question<Client, number>): Promise<number>
  /** Queries all nodes at once and returns the answers that come within a second of the first. */
  all<Answer>(question: Question<Client, Answer>): Promise<Answer[]>
  /** Whether a quorum of nodes answers at the moment, for the right chain. */
  isAvailable(): Promise<boolean>
}

/** How long the result of a probe is cached. */
const KNOWN_FOR_MS = 10_000
/** How long to wait for the other nodes after the first has answered. */
const OTHERS_MS = 1000

export interface PoolOptions {
  /** The time limit of one query to one node, including the check of its chain. */
  timeoutMs: number
  /** How many nodes must agree in `agree` and `highest`; 1 by default. */
  quorum?: number
}

/** `chain` is the name of the chain in errors. */
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
        if (count < needed) throw new NodeProblem('too few nodes agree')
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

/** Whether enough nodes of the chain answer. Probes at most every ten seconds. */
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

/** Equal answers have equal texts. */
function comparable(answer: unknown): string {
  return JSON.stringify(answer, (_, value) => (typeof value === 'bigint' ? `${value}n` : value)) ?? ''
}

/** The errors of the nodes that did not answer, each with its node's name. */
function problemsIn(replies: readonly NodeReply<unknown>[]): string {
  if (replies.length === 0) return 'no node is configured'
  return replies.flatMap((reply) => ('problem' in reply ? [`${reply.node}: ${reply.problem}`] : [])).join('; ')
}

/** Checks the chain before the first query, and again after every failure and every answer that decides something. */
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
      // A request that others share continues until its first caller aborts it.
      late.reject(problem)
    }, timeoutMs)
    timer.unref()
    try {
      return await Promise.race([askRightChain(question, stop.signal), late.promise])
    } catch (error) {
      isRightChain = false
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  async function askRightChain<Answer>(question: Question<Client, Answer>, signal: AbortSignal): Promise<Answer> {
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
