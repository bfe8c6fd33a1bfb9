// Highlighted source. The highlighter returns a tree, of which only text and class names are used.

import { common, createLowlight } from 'lowlight'
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'

const lowlight = createLowlight(common)

type Tree = ReturnType<typeof lowlight.highlight>

export default function Highlight({ text, language }: { text: string; language: string }) {
  const nodes = useMemo(() => coloured(text, language), [text, language])
  return <>{nodes}</>
}

function coloured(text: string, language: string): ComponentChildren {
  return lowlight.registered(language) ? nodesOf(lowlight.highlight(language, text).children) : text
}

function nodesOf(children: Tree['children']): ComponentChildren[] {
  return children.map((node, i) => {
    if (node.type === 'text') return node.value
    if (node.type !== 'element') return null
    return (
      <span key={i} class={([] as unknown[]).concat(node.properties.className).join(' ')}>
        {nodesOf(node.children)}
      </span>
    )
  })
}
