// The picture of the service, from left to right and down: pay, receipt, locker, root, chain, check.

import type { ComponentChildren } from 'preact'
import { texts } from '#texts/welcome'

const t = texts.picture

export function Picture() {
  return (
    <figure class="picture">
      <svg viewBox="-16 0 500 300" role="img" aria-label={t.label}>
        <g class="picture-line">
          <path class="flow" d="M112 58h62" />
          <path class="flow" d="M286 58h62" />
          <path class="flow" d="M402 126v14q0 16-16 16H246q-16 0-16 16v14" />
          <path class="flow" d="M174 226h-62" />
          <path class="flow" d="M286 226h62" />
        </g>
        <Node x={58} y={58} label={t.pay}>
          <circle r="15" />
          <path d="M0-8v16M4-5q-8-4-8 1t4 4 4 4-8 1" />
        </Node>
        <Node x={230} y={58} label={t.receipt} isBright>
          <path d="M-12-17h24v34l-6-4-6 4-6-4-6 4zM-6-8H6M-6-1H6" />
        </Node>
        <Node x={402} y={58} label={t.locker}>
          <path d="M-17-14h34v28h-34zM-17-4h34M-3 5h6" />
        </Node>
        <Node x={230} y={226} label={t.root} isBright>
          <path d="M0-15v10M0-5l-12 8M0-5l12 8M-12 3l-5 10M-12 3l5 10M12 3l-5 10M12 3l5 10" />
          <circle r="3.5" cy="-15" class="dot" />
        </Node>
        <Node x={58} y={226} label={t.chain}>
          <path d="M-17-6h13v13h-13zM4-6h13v13H4zM-4 0h8" />
        </Node>
        <Node x={402} y={226} label={t.check}>
          <path d="M0-16 14-10v9q0 11-14 17-14-6-14-17v-9zM-6-1l4 5 8-9" />
        </Node>
      </svg>
    </figure>
  )
}

interface NodeProps {
  x: number
  y: number
  label: string
  isBright?: boolean
  children: ComponentChildren
}

function Node({ x, y, label, isBright, children }: NodeProps) {
  return (
    <g transform={`translate(${x} ${y})`} class={isBright ? 'node node-bright' : 'node'}>
      <rect x="-34" y="-34" width="68" height="68" rx="18" />
      <g class="glyph">{children}</g>
      <text y="56" text-anchor="middle">
        {label}
      </text>
    </g>
  )
}
