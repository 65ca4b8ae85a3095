// The columns of a Lens over stored answers, by name.
export function throughLens (lens, definition, answers) {
  const columns = {}
  for (const column of lens.columns) columns[column.name] = cell(column, definition, answers[column.question])
  return columns
}

function cell (column, definition, answer) {
  if (!answer) return null
  switch (column.show) {
    case 'answer':
      if (answer.type === 'choice') return answer.value
      if (answer.type === 'scale') return answer.level
      if (answer.probability >= (column.yes_at ?? 0.6)) return 'yes'
      return answer.probability <= (column.no_at ?? 0.4) ? 'no' : 'unsure'
    case 'probability':
      if (answer.type === 'yes_no') return column.option ? null : answer.probability
      return answer.probabilities[column.option ?? answer.value ?? answer.level] ?? null
    case 'average':
      return answer.type === 'scale' ? average(definition, column.question, answer.probabilities) : null
    case 'confidence':
      return answer.confidence ?? null
  }
  return null
}

function average (definition, key, probabilities) {
  const levels = definition.questions.find((q) => q.key === key)?.levels ?? []
  const values = new Map(levels.map((level) => [level.key, level.value]))
  let sum = 0
  for (const [level, probability] of Object.entries(probabilities)) sum += probability * values.get(level)
  return Number.isFinite(sum) ? sum : null
}
