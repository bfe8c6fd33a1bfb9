import { startFaultyNode } from '@svc/devnet/faulty-node'
import { expect, it, onTestFinished } from 'vitest'
import { ChainUnavailable, createPublicationNodes } from '../../src/anchors/publication-nodes.ts'

it('T-19 a node that hangs is not waited for for ever', async () => {
  const node = await startFaultyNode('', () => null)
  onTestFinished(node.stop)
  const nodes = createPublicationNodes([node.url], 100)
  const asked = [nodes.lifetime(), nodes.objection('AA=='), nodes.costs('tx'), nodes.balance('key')]
  const [sent, seen, ...answers] = await Promise.all([
    nodes.send('AA=='),
    nodes.sightings(['tx']),
    ...asked.map((answer) => answer.catch((error: unknown) => error)),
  ])
  expect([sent, seen]).toEqual([undefined, [[]]])
  for (const answer of answers) expect(answer).toBeInstanceOf(ChainUnavailable)
})
