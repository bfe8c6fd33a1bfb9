// A picture of one file's path in the Merkle tree: the root at the top, the leaf at the bottom, and beside the path the
// hashes that represent all other files. It shows a link to the statement only if the roots match (T-38).

import { useSignal } from '@preact/signals'
import { texts } from '#texts/verify-pictures'
import { Status } from '../../../ui/status.tsx'
import { isLinkedToStatement, type PathStep, type ShownProof } from './merkle-path.ts'
import './merkle-tree.css'
import { behindText, leafName, NodeDetail, type TreeNode, TreeSteps } from './tree-explained.tsx'

const t = texts.tree

/** Longer paths are folded in the middle until the visitor expands them. */
const MAX_LEVELS = 9
const SHOWN_LEVELS = 4

export function MerkleTree({ proof }: { proof: ShownProof }) {
  const depth = proof.path.steps.length
  const chosen = useSignal<TreeNode>({ kind: 'path', height: 0 })
  const isExpanded = useSignal(false)
  const isFolded = depth > MAX_LEVELS && !isExpanded.value
  // Another proof may be shorter than the previous one.
  const node = 'height' in chosen.value && chosen.value.height > depth ? ({ kind: 'statement' } as const) : chosen.value
  return (
    <div class="tree">
      <div class="tree-head">
        <Verdict proof={proof} />
        <p>
          {t.place(proof.path.index, proof.path.leafCount)} {t.levels(depth)}
        </p>
        {depth > MAX_LEVELS && (
          <button
            type="button"
            class="button"
            onClick={() => {
              isExpanded.value = !isExpanded.value
            }}
          >
            {isFolded ? t.showAll(depth) : t.showFewer}
          </button>
        )}
      </div>
      <div class="tree-body">
        <Drawing
          proof={proof}
          heights={shownHeights(depth, isFolded)}
          chosen={node}
          choose={(wanted) => {
            chosen.value = wanted
          }}
        />
        <NodeDetail proof={proof} node={node} />
      </div>
      <TreeSteps proof={proof} />
    </div>
  )
}

function Verdict({ proof }: { proof: ShownProof }) {
  const { path, statementRoot } = proof
  if (path.problem !== null) {
    return (
      <p>
        <Status tone="bad">{t.wrongPath}</Status> {t.problems[path.problem]}
      </p>
    )
  }
  if (statementRoot === null) return <Status tone="neutral">{t.noStatement}</Status>
  const leads = isLinkedToStatement(proof)
  return <Status tone={leads ? 'good' : 'bad'}>{leads ? t.leads : t.leadsElsewhere}</Status>
}

/** The heights of the levels from the top; null for folded levels. */
function shownHeights(depth: number, isFolded: boolean): (number | null)[] {
  const all = Array.from({ length: depth }, (_, i) => depth - 1 - i)
  return isFolded ? [...all.slice(0, SHOWN_LEVELS), null, ...all.slice(-SHOWN_LEVELS)] : all
}

const WIDTH = 340
const BOX = { width: 160, height: 46 }
const ROW = 74
const MIDDLE = WIDTH / 2
const LEFT = BOX.width / 2
const RIGHT = WIDTH - BOX.width / 2

interface DrawingProps {
  proof: ShownProof
  heights: (number | null)[]
  chosen: TreeNode
  choose(node: TreeNode): void
}

function Drawing({ proof, heights, chosen, choose }: DrawingProps) {
  const { path, statementRoot } = proof
  const depth = path.steps.length
  const leads = isLinkedToStatement(proof)
  // The statement and the root are above the levels.
  const yOf = (row: number) => (row + 2) * ROW
  const bottom = (heights.length + 1) * ROW + BOX.height

  /** Arrow keys: up and down along the path, and to the other side of a level. */
  const onKeyDown = (event: KeyboardEvent) => {
    const next = neighbour(event.key, chosen, path.steps, heights)
    if (!next) return
    event.preventDefault()
    choose(next)
    const group = event.currentTarget as HTMLElement
    queueMicrotask(() => group.querySelector<SVGElement>(`[data-node="${nodeKey(next)}"]`)?.focus())
  }

  const box = (node: TreeNode, place: { x: number; y: number; title: string; hash: string; label: string }) => (
    <Box
      key={nodeKey(node)}
      {...place}
      node={node}
      isChosen={nodeKey(node) === nodeKey(chosen)}
      tone={
        node.kind === 'sibling' ? 'sibling' : node.kind === 'statement' || node.height === depth ? rootTone() : 'path'
      }
      stack={node.kind === 'sibling' ? stackOf(path.steps[node.height] as PathStep) : 0}
      choose={choose}
    />
  )
  const rootTone = () => (leads ? 'good' : statementRoot === null && path.problem === null ? 'path' : 'bad')

  return (
    <div role="radiogroup" aria-label={t.label} onKeyDown={onKeyDown}>
      <svg class="tree-picture" viewBox={`-8 -4 ${WIDTH + 16} ${bottom + 12}`} role="presentation">
        <Bond y={BOX.height} leads={leads} isKnown={statementRoot !== null || path.problem !== null} />
        {heights.map((height, row) => {
          const above = heights[row - 1]
          const parentX = row === 0 ? MIDDLE : above === null ? MIDDLE : slotOf(path.steps[above as number] as PathStep)
          const from = yOf(row - 1) + (above === null ? BOX.height - 8 : BOX.height)
          if (height === null)
            return <Fold key="fold" x={parentX} from={from} y={yOf(row)} levels={depth - 2 * SHOWN_LEVELS} />
          const step = path.steps[height] as PathStep
          return <Edges key={height} step={step} parentX={parentX} from={from} to={yOf(row)} />
        })}
        {box(
          { kind: 'statement' },
          {
            x: MIDDLE,
            y: 0,
            title: t.statement,
            hash: statementRoot ?? '',
            label: t.node.statement(statementRoot),
          },
        )}
        {box(
          { kind: 'path', height: depth },
          {
            x: MIDDLE,
            y: ROW,
            title: depth === 0 ? leafName(proof) : t.root,
            hash: path.root,
            label: depth === 0 ? t.node.leaf(leafName(proof), path.root) : t.node.root(path.root),
          },
        )}
        {heights.map((height, row) => {
          if (height === null) return null
          const step = path.steps[height] as PathStep
          const y = yOf(row)
          const x = slotOf(step)
          return [
            box(
              { kind: 'path', height },
              {
                x,
                y,
                title: height === 0 ? shortened(leafName(proof), 21) : t.level(height),
                hash: step.node,
                label: height === 0 ? t.node.leaf(leafName(proof), step.node) : t.node.path(height, step.node),
              },
            ),
            box(
              { kind: 'sibling', height },
              {
                x: x === LEFT ? RIGHT : LEFT,
                y,
                title: behindText(step),
                hash: step.sibling,
                label: t.node.sibling(height, t.sides[step.side], behindText(step), step.sibling),
              },
            ),
          ]
        })}
      </svg>
    </div>
  )
}

/** The line between the root of the statement and the computed root: broken if they differ. */
function Bond({ y, leads, isKnown }: { y: number; leads: boolean; isKnown: boolean }) {
  const gap = ROW - BOX.height
  if (leads) return <path class="tree-edge tree-edge-good" d={`M${MIDDLE - 4} ${y}v${gap}M${MIDDLE + 4} ${y}v${gap}`} />
  if (!isKnown) return <path class="tree-edge tree-edge-unknown" d={`M${MIDDLE} ${y}v${gap}`} />
  const middle = y + gap / 2
  return (
    <path
      class="tree-edge tree-edge-bad"
      d={`M${MIDDLE} ${y}v5M${MIDDLE} ${y + gap - 5}v5M${MIDDLE - 5} ${middle - 5}l10 10M${MIDDLE + 5} ${middle - 5}l-10 10`}
    />
  )
}

interface EdgesProps {
  step: PathStep
  parentX: number
  /** From the lower edge of the parent to the upper edge of its children. */
  from: number
  to: number
}

function Edges({ step, parentX, from, to }: EdgesProps) {
  const x = slotOf(step)
  const other = x === LEFT ? RIGHT : LEFT
  return (
    <>
      <path class={step.isRepeated ? 'tree-edge tree-edge-unknown' : 'tree-edge'} d={elbow(other, to, parentX, from)} />
      <path class="tree-edge tree-edge-path" d={elbow(x, to, parentX, from)} />
    </>
  )
}

function elbow(x: number, y: number, parentX: number, parentY: number): string {
  const middle = (y + parentY) / 2
  if (x === parentX) return `M${x} ${y}V${parentY}`
  const r = x < parentX ? 6 : -6
  return `M${x} ${y}V${middle + 6}Q${x} ${middle} ${x + r} ${middle}H${parentX - r}Q${parentX} ${middle} ${parentX} ${middle - 6}V${parentY}`
}

function Fold({ x, from, y, levels }: { x: number; from: number; y: number; levels: number }) {
  return (
    <g class="tree-fold">
      <path class="tree-edge tree-edge-path" d={elbow(MIDDLE, y + 8, x, from)} />
      <text x={MIDDLE} y={y + 27} text-anchor="middle">
        {t.between(levels)}
      </text>
    </g>
  )
}

interface BoxProps {
  node: TreeNode
  x: number
  y: number
  title: string
  hash: string
  label: string
  isChosen: boolean
  tone: 'path' | 'sibling' | 'good' | 'bad'
  /** The number of sheets drawn behind it. */
  stack: number
  choose(node: TreeNode): void
}

function Box({ node, x, y, title, hash, label, isChosen, tone, stack, choose }: BoxProps) {
  const rect = { x: -BOX.width / 2, width: BOX.width, height: BOX.height, rx: 10 }
  return (
    // biome-ignore lint/a11y/useSemanticElements: SVG has no radio buttons.
    <g
      role="radio"
      aria-checked={isChosen}
      aria-label={label}
      // SVG attribute names are case-sensitive: tabIndex would be ignored.
      tabindex={isChosen ? 0 : -1}
      data-node={nodeKey(node)}
      class={`tree-node tree-node-${tone}`}
      transform={`translate(${x} ${y})`}
      onClick={() => choose(node)}
      onKeyDown={(event: KeyboardEvent) => {
        if (event.key !== ' ' && event.key !== 'Enter') return
        event.preventDefault()
        choose(node)
      }}
    >
      {stack > 1 && <rect {...rect} x={rect.x + 6} width={BOX.width - 12} y={6} class="tree-sheet" />}
      {stack > 0 && <rect {...rect} x={rect.x + 3} width={BOX.width - 6} y={3} class="tree-sheet" />}
      <rect {...rect} y={0} class="tree-box" />
      <text y={19} text-anchor="middle" class="tree-title">
        {title}
      </text>
      <text y={36} text-anchor="middle" class="tree-hash">
        {hash === '' ? t.unknown : shortHash(hash)}
      </text>
    </g>
  )
}

function slotOf({ side }: PathStep): number {
  return side === 'left' ? RIGHT : LEFT
}

function stackOf({ behind }: PathStep): number {
  return behind === null || behind.first === behind.last ? 0 : behind.last - behind.first === 1 ? 1 : 2
}

function nodeKey(node: TreeNode): string {
  return node.kind === 'statement' ? 'statement' : `${node.kind}-${node.height}`
}

function neighbour(
  key: string,
  chosen: TreeNode,
  steps: readonly PathStep[],
  heights: readonly (number | null)[],
): TreeNode | null {
  const order = ['statement', steps.length, ...heights.filter((height) => height !== null)] as const
  const at = order.indexOf(chosen.kind === 'statement' ? 'statement' : chosen.height)
  const move = { ArrowUp: -1, ArrowDown: 1 }[key]
  if (move) {
    const next = order[at + move]
    if (next === undefined) return null
    return next === 'statement' ? { kind: 'statement' } : { kind: 'path', height: next }
  }
  if (chosen.kind === 'statement' || chosen.height === steps.length) return null
  const { side } = steps[chosen.height] as PathStep
  const isTowardsSibling = key === (side === 'left' ? 'ArrowLeft' : 'ArrowRight')
  const isAway = key === (side === 'left' ? 'ArrowRight' : 'ArrowLeft')
  if (!isTowardsSibling && !isAway) return null
  return { kind: isTowardsSibling ? 'sibling' : 'path', height: chosen.height }
}

function shortHash(hash: string): string {
  return hash.length <= 18 ? hash : `${hash.slice(0, 8)}…${hash.slice(-8)}`
}

/** Shortens in the middle: the end of a name is as informative as its beginning. */
function shortened(text: string, length: number): string {
  const characters = [...text]
  if (characters.length <= length) return text
  const start = Math.ceil((length - 1) / 2)
  return `${characters.slice(0, start).join('')}…${characters.slice(start + 1 - length).join('')}`
}
