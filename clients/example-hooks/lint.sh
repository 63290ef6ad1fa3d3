# Tells the model about a problem in the file that it wrote.
cat > /dev/null
echo '{"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "line 1: os is imported and not used"}}'
