terraform {
  required_providers {
    prism = {
      source = "prism-results/prism"
    }
  }
}

# The address and the API key, of an owner, are those of PRISM_URL and PRISM_API_KEY.
provider "prism" {}

resource "prism_prism" "reviews" {
  slug         = "reviews"
  name         = "Hotel reviews"
  instructions = "The text is a review that a guest wrote about a hotel."

  fields = [{ key = "text", label = "Review" }]

  questions = [
    {
      key  = "topic"
      type = "choice"
      text = "What is the review mostly about?"
      options = [
        { key = "room", label = "Room", description = "The room, the bed, noise, cleanliness." },
        { key = "staff", label = "Staff", description = "Reception, service, friendly or rude people." },
        { key = "food", label = "Food" },
      ]
    },
    { key = "again", type = "yes_no", text = "Would the guest come again?" },
    {
      key  = "mood"
      type = "scale"
      text = "How content is the guest?"
      levels = [
        { key = "low", label = "Not at all" },
        { key = "middle", label = "Somewhat" },
        { key = "high", label = "Very" },
      ]
    },
    {
      key     = "praises"
      type    = "tags"
      text    = "What does the guest praise?"
      options = [{ key = "view", label = "The view" }, { key = "bed", label = "The bed" }]
    },
  ]

  examples = [{
    fields  = { text = "The bed was hard and the neighbours loud, but the view made up for it." }
    answers = { topic = "room", again = "false", praises = jsonencode(["view"]) }
  }]
}

# The columns in which answers are read.
resource "prism_lens" "reviews" {
  prism = prism_prism.reviews.slug

  columns = [
    { name = "topic", question = "topic", show = "answer" },
    { name = "topic certainty", question = "topic", show = "confidence" },
    { name = "again", question = "again", show = "answer", yes_at = 0.7, no_at = 0.3 },
    { name = "mood", question = "mood", show = "average" },
    { name = "praises the view", question = "praises", show = "probability", option = "view" },
  ]
}

# Results are deleted after a year.
resource "prism_retention" "reviews" {
  prism = prism_prism.reviews.slug
  days  = 365
}

# Its answers are watched for drift.
resource "prism_drift" "reviews" {
  prism = prism_prism.reviews.slug
}

# The key of the app that asks the prism. Another date makes another key, and revokes the old one when the new one is there.
resource "prism_key" "app" {
  name     = "reviews app"
  role     = "caller"
  rotation = "2026-11"

  lifecycle {
    create_before_destroy = true
  }
}

resource "prism_member" "analyst" {
  name  = "Ana Lyst"
  email = "ana@example.com"
  role  = "labeller"
}

# Doubtful reviews are sent on.
resource "prism_webhook" "unhappy" {
  url     = "https://example.com/hooks/prism"
  events  = ["result.created"]
  prisms  = [prism_prism.reviews.slug]
  answers = true

  condition = {
    column = "mood"
    op     = "to"
    value  = "1.5"
  }
}

data "prism_models" "all" {}

output "models" {
  value = [for m in data.prism_models.all.data : m.name]
}

output "version" {
  value = prism_prism.reviews.latest_version
}

output "api_key" {
  value     = prism_key.app.key
  sensitive = true
}

output "webhook_secret" {
  value     = prism_webhook.unhappy.secret
  sensitive = true
}

output "sign_in" {
  value     = prism_member.analyst.link
  sensitive = true
}
