// The picture of a path in words: one node in full, and all of it in steps.

import { bare } from '@svc/protocol/bytes'
import { printable } from '@svc/verifier/untrusted'
import type { ComponentChildren } from 'preact'
import { texts } from '#texts/verify-pictures'
import { CopyButton } from '../../../ui/copy.tsx'
import { isLinkedToStatement, type PathStep, type ShownProof } from './merkle-path.ts'

const t = texts.tree

/** A selectable node: on the path by its height, its sibling, or the root in the statement. */
export type TreeNode = { kind: 'path' | 'sibling'; height: number } | { kind: 'statement' }

/** The chosen node in full, and how to compute it. */
export function NodeDetail({ proof, node }: { proof: ShownProof; node: TreeNode }) {
  const { path, statementRoot } = proof
  if (node.kind === 'statement') {
    return (
      <Panel title={t.statement} hash={statementRoot}>
        <p>{statementRoot === null ? t.ofStatementNone : t.ofStatement}</p>
      </Panel>
    )
  }
  const { height } = node
  if (node.kind === 'sibling') return <Sibling step={path.steps[height] as PathStep} proof={proof} height={height} />
  const below = path.steps[height - 1]
  if (!below) return <Leaf proof={proof} />
  const isRoot = height === path.steps.length
  return (
    <Panel title={isRoot ? t.root : t.level(height)} hash={below.parent}>
      <h4>{t.how}</h4>
      <p>{t.ofParent}</p>
      <Halves step={below} />
      {below.isRepeated && <p>{t.ofRepeated}</p>}
    </Panel>
  )
}

function Panel({ title, hash, children }: { title: string; hash: string | null; children: ComponentChildren }) {
  return (
    <section class="tree-detail" aria-live="polite" aria-label={title}>
      <h3 class="tree-detail-title">{title}</h3>
      {hash !== null && <Hash text={hash} what={t.hash} />}
      {children}
    </section>
  )
}

function Hash({ text, what }: { text: string; what: string }) {
  return (
    <div class="tree-value">
      <code>{text}</code>
      <CopyButton text={text} what={what} />
    </div>
  )
}

function Leaf({ proof }: { proof: ShownProof }) {
  const { file, path } = proof
  if (file === null) {
    return (
      <Panel title={t.leaf} hash={path.leaf}>
        <p>{t.ofLeafUnnamed}</p>
      </Panel>
    )
  }
  const text = `${file.filename}:${file.size_bytes}:${bare(file.content_hash)}`
  const shown = printable(text, Number.POSITIVE_INFINITY)
  return (
    <Panel title={leafName(proof)} hash={path.leaf}>
      <h4>{t.how}</h4>
      <p>{t.ofLeaf}</p>
      <div class="tree-value">
        <code>
          <bdi>{shown}</bdi>
        </code>
        <CopyButton text={text} what={t.text} />
      </div>
      {shown !== text && <p class="tree-note">{texts.invisible}</p>}
    </Panel>
  )
}

function Sibling({ step, proof, height }: { step: PathStep; proof: ShownProof; height: number }) {
  const { behind, isRepeated, sibling } = step
  const range = behind ? t.range(behind.first, behind.last) : behindText(step)
  return (
    <Panel title={`${height === 0 ? t.leaf : t.level(height)}: ${range}`} hash={sibling}>
      <p>
        {isRepeated
          ? t.ofRepeated
          : proof.siblings === 'computed'
            ? t.ofSiblingComputed(range)
            : t.ofSiblingGiven(range)}
      </p>
    </Panel>
  )
}

function Halves({ step: { node, sibling, side } }: { step: PathStep }) {
  const [left, right] = side === 'left' ? [sibling, node] : [node, sibling]
  return (
    <div class="tree-value">
      <code>
        <span class={side === 'left' ? 'half-sibling' : 'half-path'} title={t.leftHalf}>
          {left}
        </span>
        <span class={side === 'left' ? 'half-path' : 'half-sibling'} title={t.rightHalf}>
          {right}
        </span>
      </code>
      <CopyButton text={left + right} what={t.text} />
    </div>
  )
}

/** The picture as text, for screen readers and for visitors who want to compute it themselves. */
export function TreeSteps({ proof }: { proof: ShownProof }) {
  const { path, file, statementRoot } = proof
  return (
    <details class="tree-steps">
      <summary>{t.steps}</summary>
      <ol>
        <li>
          {file === null ? t.step.leafUnnamed : t.step.leaf} <code>{path.leaf}</code>
        </li>
        {path.steps.map((step, height) => (
          <li key={height}>
            {sentence(step, height + 1)} <code>{step.parent}</code>
          </li>
        ))}
        <li>
          {path.problem !== null && t.problems[path.problem]}{' '}
          {statementRoot === null ? (
            t.step.none
          ) : path.root === statementRoot ? (
            isLinkedToStatement(proof) && t.step.same
          ) : (
            <>
              {t.step.other} <code>{statementRoot}</code>
            </>
          )}
        </li>
      </ol>
    </details>
  )
}

function sentence({ side, behind, isRepeated }: PathStep, height: number): string {
  if (isRepeated) return t.step.repeated(height)
  const range = behind ? t.range(behind.first, behind.last) : t.unknown
  return t.step[side](height, range)
}

export function behindText({ behind }: PathStep): string {
  return behind === null ? t.repeated : texts.files(behind.last - behind.first + 1)
}

/** The name as one printable line. */
export function leafName({ file, path }: ShownProof): string {
  return file === null ? t.withoutName(path.index) : printable(file.filename, 600)
}
