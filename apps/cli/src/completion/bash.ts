import { optionValues, type Values, type Words } from './words.ts'

/** Completes commands, options and values from tables keyed by what was typed; everything else completes files. */
export function bashScript(words: readonly Words[]): string {
  const [program] = words
  const globals = (program?.options ?? []).map(({ flag }) => flag)
  const options = words.flatMap((one) => one.options)
  const withValue = options.filter(({ takesValue }) => takesValue).flatMap(formsOf)
  const cases = words.map(({ path, commands, options, values }) => {
    const all = [...commands.map(({ name }) => name), ...options.map(({ flag }) => flag), ...(path ? globals : [])]
    const own = values ? `; ${valuesText(values)}` : ''
    return `    ${path ? `'${path}'` : "''"}) words='${[...new Set(all)].join(' ')}'${own} ;;`
  })
  const optionCases = optionValues(words).map(([forms, of]) => `      ${forms.join('|')}) ${valuesText(of)} ;;`)
  return `# svc completion bash > ~/.local/share/bash-completion/completions/svc
_svc() {
  local word path='' words='' values='' dynamic='' i skip=''
  local current="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ -n $skip ]]; then skip=''; continue; fi
    case "$word" in
      ${[...new Set(withValue)].join('|')}) skip="$word"; continue ;;
      -*) continue ;;
    esac
    case "\${path:+$path }$word" in
${words
  .filter(({ path }) => path)
  .map(({ path }) => `      '${path}') path='${path}' ;;`)
  .join('\n')}
    esac
  done
  if [[ -n $skip ]]; then
    case "$skip" in
${optionCases.join('\n')}
    esac
  else
    case "$path" in
${cases.join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words $values" -- "$current"))
  [[ -z $dynamic || $current == -* ]] && return
  while IFS= read -r word; do
    [[ $word == "$current"* ]] && COMPREPLY+=("$(printf %q "$word")")
  done < <("\${COMP_WORDS[0]}" complete "$dynamic" 2>/dev/null)
}
complete -o default -F _svc svc
`
}

function formsOf({ flag, short }: Words['options'][number]): string[] {
  return short === null ? [flag] : [short, flag]
}

function valuesText(values: Values): string {
  return 'dynamic' in values ? `dynamic='${values.dynamic}'` : `values='${values.fixed.join(' ')}'`
}
